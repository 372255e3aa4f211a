import { expect } from "chai";
import fc from "fast-check";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { anyRequest, backend, endpoints, harness, host, routeTo, type Harness } from "./support.ts";

const services = ["ns/a/http", "ns/b/http", "ns/c/http"] as const;
const hosts = ["a.x", "b.x", "*.x", "*"] as const;

/** A world: endpoint sets of all services, and for some hosts the services behind their paths. */
const world: fc.Arbitrary<readonly Resource[]> = fc
  .record({
    addresses: fc.tuple(...services.map(() => fc.integer({ min: 1, max: 3 }))),
    hosts: fc.dictionary(
      fc.constantFrom(...hosts),
      fc.dictionary(fc.constantFrom("/", "/p", "/q"), fc.constantFrom(...services), { minKeys: 1 }),
    ),
  })
  .map(({ addresses, hosts: served }) => {
    const routed = Object.entries(served).map(([name, paths]) =>
      host(
        name,
        Object.entries(paths).map(([path, service]) => routeTo(`${name}${path}`, path, [backend(service)])),
      ),
    );
    const used = new Set(Object.values(served).flatMap((paths) => Object.values(paths)));
    const sets = services.flatMap((name, index) =>
      used.has(name) ? [endpoints(name, `10.0.${index}.${addresses[index]}`)] : [],
    );
    return [...sets, ...routed];
  });

/** The route and the endpoint that each request of a small set gets. */
function answers(under: Harness): readonly string[] {
  return ["a.x", "b.x", "c.x", "y"].flatMap((name) =>
    ["/", "/p/1", "/q"].map((path) => {
      const route = under.route(name, path);
      const picked = route?.pickBackend(anyRequest);
      const address =
        picked?.kind === "upstream" ? picked.upstream.pick(anyRequest)?.endpoint.address : picked?.status;
      return `${name}${path} ${route?.id} ${address}`;
    }),
  );
}

describe("updates", () => {
  it("a sequence of updates gives the state of a full snapshot, with broken updates in between", () => {
    const step = fc.record({ resources: world, full: fc.boolean(), broken: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const under = harness();
        under.move();
        let good: readonly Resource[] = [];
        for (const { resources, full, broken } of steps) {
          // Without its endpoint sets a world cannot be served; one without hosts needs none.
          const offered = broken ? resources.filter(({ key }) => key.startsWith("route")) : resources;
          const result = full ? under.replace(...offered) : under.move(...offered);
          expect(result.ok).to.equal(!broken || offered.length === 0);
          if (result.ok) good = offered;
          const scratch = harness();
          scratch.replace(...good);
          expect(answers(under)).to.deep.equal(answers(scratch));
          expect(under.state.counts).to.deep.equal(scratch.state.counts);
          expect(under.state.serving.version).to.equal(scratch.state.serving.version);
          expect([...under.upstreams.sets.keys()].toSorted()).to.deep.equal(
            [...scratch.upstreams.sets.keys()].toSorted(),
          );
        }
      }),
      { numRuns: 150 },
    );
  });
});
