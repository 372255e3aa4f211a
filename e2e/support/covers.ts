/**
 * Declares the annotations and filters of the Gateway API that a test file covers. scripts/test/e2e-coverage.test.ts
 * requires each to be covered by some file.
 */
import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";

const used = new Set<string>();
const usedFilters = new Set<string>();

/** A filter in a rule of a route, or in one of its backends. */
type Filter = { readonly type: string; readonly extensionRef?: { readonly kind: string } };

type Filtered = { readonly filters?: readonly Filter[] };

/** The part of the `spec` of a route with its filters. */
type RouteSpec = {
  readonly rules?: readonly (Filtered & { readonly backendRefs?: readonly Filtered[] })[];
};

/** Records the annotations of an Ingress that a test creates, by their names without prefix. */
export function noteAnnotations(names: Iterable<string>): void {
  for (const name of names) used.add(name);
}

/** Records the filters of a route that a test creates, from its `spec`. */
export function noteFilters(spec: object): void {
  const { rules = [] }: RouteSpec = spec;
  for (const { filters = [], backendRefs = [] } of rules) {
    for (const filter of [...filters, ...backendRefs.flatMap((backend) => backend.filters ?? [])]) {
      usedFilters.add(filterName(filter));
    }
  }
}

/** The type of a filter, with the kind that an extension refers to. */
const filterName = ({ type, extensionRef }: Filter): string =>
  extensionRef === undefined ? type : `${type} to ${extensionRef.kind}`;

/** Declares, inside `describe`, the annotations that its tests set; this is checked when they have ended. */
export function covers(...names: readonly string[]): void {
  after(() => {
    const known = [...annotations.values()].map(({ name }) => name);
    expect(known).to.include.members([...names]);
    expect([...used]).to.include.members([...names]);
  });
}

/**
 * Declares the filters of routes that the tests of a `describe` set, by type; `ExtensionRef to <kind>` for resources
 * of the gateway's own. Nothing is checked if all tests of the suite were skipped.
 */
export function coversFilters(...names: readonly string[]): void {
  after(function () {
    if (this.test?.parent?.tests.every((test) => test.isPending()) === true) return;
    expect([...usedFilters]).to.include.members([...names]);
  });
}
