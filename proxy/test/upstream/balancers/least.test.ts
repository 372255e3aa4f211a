import { expect } from "chai";
import fc from "fast-check";
import { connectionScore, createLeastBalancer, latencyScore } from "../../../src/upstream/balancers/least.ts";
import { EndpointLoad, loadOf } from "../../../src/upstream/endpoint-load.ts";
import type { UpstreamEndpoint } from "../../../src/upstream/upstream.ts";
import { endpointList, pickRequest } from "../balancing.ts";

const loadWith = (inFlight: number, latencyMs?: number): EndpointLoad => {
  const load = new EndpointLoad();
  load.inFlight = inFlight;
  load.latencyMs = latencyMs;
  return load;
};

describe("createLeastBalancer", () => {
  it("the least balancer picks an endpoint with the lowest score, and equal ones in turn", () => {
    const step = fc.record({ index: fc.nat(5), inFlight: fc.nat(3), excluded: fc.uniqueArray(fc.nat(5)) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const endpoints = endpointList(6);
        const picker = createLeastBalancer(connectionScore, () => 0).update(endpoints);
        for (const { index, inFlight, excluded } of steps) {
          loadOf(endpoints[index] as UpstreamEndpoint).inFlight = inFlight;
          const barred = new Set(excluded.map((at) => endpoints[at] as UpstreamEndpoint));
          const allowed = endpoints.filter((endpoint) => !barred.has(endpoint));
          const least = Math.min(...allowed.map((endpoint) => loadOf(endpoint).inFlight));
          const picked = picker.pick(pickRequest(), barred);
          if (allowed.length === 0) expect(picked).to.equal(undefined);
          else expect(picked && !barred.has(picked) && loadOf(picked).inFlight === least).to.equal(true);
        }
      }),
    );
    const endpoints = endpointList(3);
    const picker = createLeastBalancer(connectionScore, () => 0.5).update(endpoints);
    const picked = Array.from({ length: 4 }, () => picker.pick(pickRequest())?.host);
    expect(picked).to.deep.equal(["10.0.0.1", "10.0.0.2", "10.0.0.0", "10.0.0.1"]);
  });

  it("the least balancer continues its turn after a change of endpoints", () => {
    const endpoints = endpointList(4);
    const balancer = createLeastBalancer(connectionScore, () => 0);
    balancer.update(endpoints).pick(pickRequest());
    expect(balancer.update(endpoints).pick(pickRequest())).to.equal(endpoints[1]);
    expect(balancer.update([]).pick(pickRequest())).to.equal(undefined);
  });

  it("the least balancer keeps the loads of endpoints that remain after a change", () => {
    const [busy, idle, newcomer] = endpointList(3) as [UpstreamEndpoint, UpstreamEndpoint, UpstreamEndpoint];
    loadOf(busy).inFlight = 3;
    loadOf(idle).inFlight = 1;
    const balancer = createLeastBalancer(connectionScore, () => 0);
    balancer.update([busy, idle]);
    loadOf(newcomer).inFlight = 2;
    const picker = balancer.update([newcomer, busy, idle]);
    expect(picker.pick(pickRequest())).to.equal(idle);
  });
});

describe("latencyScore", () => {
  it("latencyScore is latency times load, with unsampled endpoints first but for one request at a time", () => {
    const order = [
      loadWith(0),
      loadWith(0, 5),
      loadWith(1, 5),
      loadWith(0, 12),
      loadWith(9, 100),
      loadWith(1),
      loadWith(2),
    ];
    const scores = order.map(latencyScore);
    expect(scores.toSorted((a, b) => a - b)).to.deep.equal(scores);
  });

  it("the average latency of an endpoint moves by an eighth of the difference to each sample", () => {
    const load = new EndpointLoad();
    load.observe(80);
    load.observe(0);
    load.observe(160);
    expect(load.latencyMs).to.equal(81.25);
  });
});
