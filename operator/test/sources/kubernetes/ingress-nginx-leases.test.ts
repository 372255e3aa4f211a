import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { fakeLog } from "../../../../common/test/telemetry/fake-log.ts";
import {
  followIngressNginxLeases,
  noIngressNginxLeases,
  type IngressNginxLeases,
} from "../../../src/sources/kubernetes/ingress-nginx-leases.ts";
import { createFakeClient, type FakeClient } from "../../support/fake-client.ts";
import { createTestClock, settle, type TestClock } from "../../support/test-clock.ts";

type Spec = { readonly holderIdentity?: string | null; readonly renewTime?: string | null };

describe("the Leases of ingress-nginx", () => {
  let end: AbortController;
  let clock: TestClock;
  let client: FakeClient;
  /** By namespace and name; a number is the status of an error, of all names of a namespace. */
  let leases: Map<string, Spec>;
  let errors: Map<string, number>;

  beforeEach(() => {
    end = new AbortController();
    clock = createTestClock();
    leases = new Map();
    errors = new Map();
    client = createFakeClient(({ path }) => {
      const url = new URL(path, "http://api");
      const [, namespace = ""] = /\/namespaces\/([^/]+)\/leases$/.exec(url.pathname) ?? [];
      const name = url.searchParams.get("fieldSelector")?.replace("metadata.name=", "");
      const items = [...leases].flatMap(([key, spec]) => {
        const [of, called] = key.split("/");
        return called === name && (namespace === "" || of === namespace)
          ? [{ metadata: { namespace: of, name: called }, spec }]
          : [];
      });
      return errors.get(namespace) ?? { items };
    });
  });
  afterEach(() => end.abort());

  const follow = (namespaces?: readonly string[], log: Logger = silentLogger): IngressNginxLeases =>
    followIngressNginxLeases({ client, namespaces, log, signal: end.signal, clock });
  /** A time relative to the clock of the test, in the format of the API server. */
  const at = (ms: number): string => new Date(clock.nowMs() + ms).toISOString().replace("Z", "000Z");
  const held = (renewTime: string): Spec => ({ holderIdentity: "pod-0", renewTime });
  const edge = "edge/ingress-nginx-leader";

  it("a Lease that was renewed a moment ago is found at once, by either name and in any namespace", async () => {
    await clock.advance(3_600_000);
    leases.set(edge, held(at(-8_000)));
    leases.set("a/ingress-controller-leader", held(at(-8_000)));
    leases.set("a/svc-leader-lock", held(at(-8_000)));
    const followed = follow();
    await settle();
    expect(followed.renewed()).to.deep.equal(["a/ingress-controller-leader", edge]);
    expect(client.calls.map(({ path }) => path)).to.deep.equal([
      "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Dingress-nginx-leader&limit=100",
      "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Dingress-controller-leader&limit=100",
    ]);
  });

  it("a Lease that is no longer renewed is left out after a minute, and each change is announced once", async () => {
    leases.set(edge, held(at(0)));
    const followed = follow();
    let notified = 0;
    followed.subscribe(() => notified++);
    await settle();
    expect([followed.renewed(), notified]).to.deep.equal([[edge], 1]);
    const first = followed.renewed();
    await clock.advance(60_000);
    expect(followed.renewed()).to.equal(first);
    await clock.advance(30_000);
    expect([followed.renewed(), notified]).to.deep.equal([[], 2]);
  });

  it("a Lease that an ended ingress-nginx has left behind is not found", async () => {
    await clock.advance(3_600_000);
    leases.set(edge, held(at(-90_000)));
    leases.set("b/ingress-nginx-leader", { holderIdentity: "", renewTime: at(0) });
    leases.set("c/ingress-nginx-leader", { holderIdentity: null, renewTime: null });
    leases.set("d/ingress-nginx-leader", held("yesterday"));
    const followed = follow();
    await settle();
    expect(followed.renewed()).to.deep.equal([]);
    await clock.advance(120_000);
    expect(followed.renewed()).to.deep.equal([]);
  });

  for (const [which, skewMs] of [
    ["an hour behind", -3_600_000],
    ["an hour ahead", 3_600_000],
  ] as const) {
    it(`a Lease by a clock that is ${which} counts while it changes`, async () => {
      await clock.advance(7_200_000);
      leases.set(edge, held(at(skewMs)));
      const followed = follow();
      await settle();
      expect(followed.renewed()).to.deep.equal([]);
      leases.set(edge, held(at(skewMs + 7_500)));
      await clock.advance(30_000);
      expect(followed.renewed()).to.deep.equal([edge]);
      await clock.advance(30_000);
      expect(followed.renewed()).to.deep.equal([]);
    });
  }

  it("only the namespaces that may be read are asked", async () => {
    leases.set("shop/ingress-nginx-leader", held(at(0)));
    leases.set(edge, held(at(0)));
    const followed = follow(["blog", "shop"]);
    await settle();
    expect(followed.renewed()).to.deep.equal(["shop/ingress-nginx-leader"]);
    expect(client.calls.map(({ path }) => path.split("/")[5])).to.deep.equal([
      "blog",
      "blog",
      "shop",
      "shop",
    ]);
  });

  it("a refusal is logged once, does not hide other namespaces, and its end is logged", async () => {
    leases.set("shop/ingress-nginx-leader", held(at(0)));
    errors.set("blog", 403);
    const log = fakeLog();
    const notable = (): readonly string[] =>
      log.lines.filter(({ level }) => level !== "debug").map(({ level, message }) => `${level} ${message}`);
    const followed = follow(["blog", "shop"], log);
    await clock.advance(600_000);
    leases.set("shop/ingress-nginx-leader", held(at(30_000)));
    await clock.advance(30_000);
    expect(followed.renewed()).to.deep.equal(["shop/ingress-nginx-leader"]);
    expect(notable()).to.deep.equal(["warn list of ingress-nginx's Leases fails"]);
    errors.clear();
    await clock.advance(30_000);
    expect(notable()[1]).to.equal("info list of ingress-nginx's Leases works again");
  });

  it("what is known stays while the API server fails, and is forgotten when it refuses", async () => {
    leases.set(edge, held(at(0)));
    const followed = follow();
    await settle();
    errors.set("", 503);
    await clock.advance(300_000);
    expect(followed.renewed()).to.deep.equal([edge]);
    errors.set("", 403);
    await clock.advance(30_000);
    expect(followed.renewed()).to.deep.equal([]);
  });

  it("nothing is asked after the signal", async () => {
    const followed = follow();
    await settle();
    const before = client.calls.length;
    end.abort();
    await followed.done;
    await clock.advance(300_000);
    expect(client.calls).to.have.lengthOf(before);
    await noIngressNginxLeases.done;
  });
});
