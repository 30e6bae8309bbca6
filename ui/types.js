// Writes the types of the result model from its JSON Schema: node types.js SCHEMA FILE
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { compileFromFile } from "json-schema-to-typescript";

const [schema, file] = process.argv.slice(2);
const types = await compileFromFile(schema, {
  additionalProperties: false,
  bannerComment: "// Made of docs/result.schema.json by `npm run types`; change the model instead.",
  unreachableDefinitions: false,
});
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, types);
