import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { followGatewayFields, type GatewayFields } from "../../../src/sources/kubernetes/gateway-fields.ts";
import type { OptionalField } from "../../../src/translate/gateway/status/supported-features.ts";
import { createFakeClient } from "../../support/fake-client.ts";

const filters: OptionalField = { kind: "Gateway", path: ["spec", "listeners", "filters"] };
const retry: OptionalField = { kind: "HTTPRoute", path: ["spec", "rules", "retry"] };

const definition = (kind: string, list: string, fields: readonly string[]): object => ({
  "x-kubernetes-group-version-kind": [{ group: "gateway.networking.k8s.io", version: "v1", kind }],
  properties: {
    spec: {
      properties: {
        [list]: {
          type: "array",
          items: { properties: Object.fromEntries(fields.map((name) => [name, { type: "object" }])) },
        },
      },
    },
  },
});

const documentOf = (listener: readonly string[], rule: readonly string[]): object => ({
  components: {
    schemas: { a: definition("Gateway", "listeners", listener), b: definition("HTTPRoute", "rules", rule) },
  },
});

describe("the fields of the Gateway API", () => {
  let end: AbortController;
  /** Runs the next reading, when there is one. */
  let again: (() => void) | undefined;
  let waited: number[];
  let reads: number;

  beforeEach(() => {
    end = new AbortController();
    again = undefined;
    waited = [];
    reads = 0;
  });
  afterEach(() => end.abort());

  /** Follows the fields in the answers, which are given in order; the last one is repeated. */
  function follow(...answers: readonly (object | number)[]): GatewayFields {
    const client = createFakeClient(() => answers[Math.min(reads++, answers.length - 1)] ?? 500);
    return followGatewayFields({
      client,
      fields: [filters, retry],
      log: silentLogger,
      signal: end.signal,
      clock: {
        schedule(delayMs, callback) {
          waited.push(delayMs);
          again = callback;
          return () => {};
        },
      },
    });
  }
  const settled = async (count: number): Promise<void> => {
    while (waited.length < count) await new Promise((resolve) => setImmediate(resolve));
  };

  it("the fields of definitions are found in the OpenAPI document, also through the items of lists", async () => {
    const fields = follow(documentOf(["name"], ["retry"]));
    expect(fields.isKnown()).to.equal(false);
    await settled(1);
    expect([fields.isKnown(), fields.has(filters), fields.has(retry)]).to.deep.equal([true, false, true]);
  });

  it("the document is read again, and only a change is announced", async () => {
    const fields = follow(documentOf([], []), documentOf([], []), documentOf(["filters"], []));
    await settled(1);
    let notified = 0;
    fields.subscribe(() => notified++);
    again?.();
    await settled(2);
    expect(notified).to.equal(0);
    again?.();
    await settled(3);
    expect([notified, fields.has(filters)]).to.deep.equal([1, true]);
  });

  it("the known fields stay while the server fails, and the read is retried soon", async () => {
    const fields = follow(documentOf(["filters"], []), 503, 403);
    for (const count of [1, 2, 3]) {
      await settled(count);
      expect(fields.has(filters)).to.equal(true);
      again?.();
    }
    expect(waited[1]).to.be.lessThan(waited[0] ?? 0);
  });

  it("the fields are unknown before the server answers, and empty when it refuses", async () => {
    const fields = follow(503, { components: {} }, 403);
    for (const count of [1, 2]) {
      await settled(count);
      expect(fields.isKnown()).to.equal(false);
      again?.();
    }
    await settled(3);
    expect(fields.isKnown()).to.equal(true);
    expect(fields.has(filters)).to.equal(false);
  });

  it("the document is not read after the signal", async () => {
    const fields = follow(documentOf([], []));
    end.abort();
    await fields.done;
  });
});
