// How far apart colours are for people with each kind of colour vision.

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** Linear sRGB as it is seen: by those without cones for long, medium and short waves as Machado, Oliveira and Fernandes simulate it (“A
 * Physiologically-based Model for Simulation of Color Vision Deficiency”, IEEE TVCG 15(6), 2009, table of severity 1.0). */
const SIGHTS = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
} as const satisfies Record<string, Matrix>;
export const SIGHT_NAMES = Object.keys(SIGHTS) as (keyof typeof SIGHTS)[];

/** Linear sRGB to CIE XYZ, each row over the white of D65 (IEC 61966-2-1). */
const TO_XYZ: Matrix = [
  [0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339 / 1.08883, 0.119192 / 1.08883, 0.9503041 / 1.08883],
];

/** The distance of two colours, `#rrggbb`: ΔE*ab of CIE 1976. What is just noticeable side by side is 2.3 (Mahy, Van Eycken and Oosterlinck 1994). */
export function distance(one: string, other: string, sight: keyof typeof SIGHTS): number {
  const [from, to] = [lab(one, sight), lab(other, sight)];
  return Math.hypot(...from.map((value, at) => value - (to[at] ?? 0)));
}

/** The contrast of two colours by WCAG 2.2. */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map((colour) => times(TO_XYZ, linear(colour))[1]).sort((low, high) => high - low);
  return (light + 0.05) / (dark + 0.05);
}

function lab(colour: string, sight: keyof typeof SIGHTS): Triple {
  const seen = times(SIGHTS[sight], linear(colour)).map((value) => Math.min(Math.max(value, 0), 1)) as unknown as Triple;
  const [x, y, z] = times(TO_XYZ, seen).map((value) => (value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116)) as unknown as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function linear(colour: string): Triple {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return parts.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)) as unknown as Triple;
}

function times(matrix: Matrix, [x, y, z]: Triple): Triple {
  return matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Triple;
}
