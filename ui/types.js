// Writes the types of a JSON Schema, or of the bodies that an OpenAPI description has: node types.js SCHEMA FILE
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { compile } from "json-schema-to-typescript";

const [file, out] = process.argv.slice(2);
const written = JSON.parse(readFileSync(file, "utf8").replaceAll("#/components/schemas/", "#/definitions/"));
const bodies = written.components?.schemas;
const schema = bodies === undefined ? written : { title: "Api", type: "object", definitions: bodies };
const types = await compile(schema, schema.title ?? "Result", {
  additionalProperties: false,
  bannerComment: `// Made of docs/${basename(file)} by \`npm run types\`; change the model instead.`,
  unreachableDefinitions: bodies !== undefined,
  cwd: dirname(file),
});
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, types);
