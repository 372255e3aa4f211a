/** Which annotations a test file is about: scripts/test/e2e-coverage.test.ts asks for each to be covered somewhere. */
import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";

const used = new Set<string>();

/** Takes the annotations of an Ingress that a test makes, by their names without prefix. */
export function noteAnnotations(names: Iterable<string>): void {
  for (const name of names) used.add(name);
}

/** Declares, inside of `describe`, which annotations its tests set; that they do is looked at when they have ended. */
export function covers(...names: readonly string[]): void {
  after(() => {
    const known = [...annotations.values()].map(({ name }) => name);
    expect(known).to.include.members([...names]);
    expect([...used]).to.include.members([...names]);
  });
}
