/** The golden cases as a corpus: lists of objects with the settings that they are translated with. */
import { kindNames } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { World } from "../../src/world.ts";
import { caseNames, readCase, type GoldenCase } from "./golden.ts";

export type CorpusCase = Omit<GoldenCase, "world"> & {
  readonly name: string;
  readonly objects: readonly KubeObject[];
};

const objectsOf = (world: World): readonly KubeObject[] =>
  kindNames.flatMap((kind): readonly KubeObject[] => world[kind]);

export const readCorpus = (): readonly CorpusCase[] =>
  caseNames().map((name) => {
    const { world, ...rest } = readCase(name);
    return { ...rest, name, objects: objectsOf(world) };
  });

/** The same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same entries in an order that the numbers choose. */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const left = [...items];
  for (let last = left.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [left[last], left[other]] = [left[other] as Item, left[last] as Item];
  }
  return left;
}

/** The same cases and orders in each run; SEED=<integer> makes others. */
export const seed = Number(process.env["SEED"] ?? 9114);
