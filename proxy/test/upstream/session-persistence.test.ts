import { expect } from "chai";
import type { BackendPolicy } from "@svc-gateway/common/features/backend-policy.ts";
import { Fields } from "../../src/message/fields.ts";
import type { PickRequest } from "../../src/upstream/upstream.ts";
import { UpstreamView } from "../../src/upstream/upstream-view.ts";
import { breakerEnvironment } from "./balancing.ts";
import { all, cookieOf, harness, hosts, identity, one, pick, three, two } from "./view-harness.ts";

describe("UpstreamView: session persistence by cookie", () => {
  const policy: BackendPolicy = { sessionPersistence: { type: "cookie", name: "sid" } };

  it("a session cookie binds a client to its endpoint, on any proxy that has the key", () => {
    const first = pick(harness().update(policy));
    expect(first.setCookie).to.match(/^sid=[0-9a-f]{32}; Path=\/; HttpOnly$/);
    const other = harness().update(policy, [three, two, one]);
    for (const before of ["", "x=1; ", "sid=stale; ", "sid=; sid; "]) {
      const again = pick(other, { received: Fields.of(["cookie", `${before}${cookieOf(first)}`]) });
      expect([again.endpoint, again.setCookie]).to.deep.equal([first.endpoint, undefined]);
    }
  });

  it("the session cookie of a client over TLS is Secure", () => {
    expect(pick(harness().update(policy), { secure: true }).setCookie).to.match(
      /; Path=\/; Secure; HttpOnly$/,
    );
  });

  it("the session cookie of a policy has the attributes that the policy gives it", () => {
    const rules = { path: "/shop", domain: "example.com", maxAgeSeconds: 60, sameSite: "None" } as const;
    const cookie = { ...rules, omitsNoneIfMisread: true, partitioned: true, alwaysSecure: true } as const;
    const upstream = harness().update({ sessionPersistence: { type: "cookie", name: "sid", cookie } });
    const attributes = "Max-Age=60; Domain=example.com; Path=/shop; Secure; HttpOnly";
    const textOf = (given: Partial<PickRequest>): string =>
      pick(upstream, given).setCookie?.replace(/^sid=[0-9a-f]{32}; /, "") ?? "";
    expect(textOf({})).to.equal(`${attributes}; SameSite=None; Partitioned`);
    expect(textOf({ headers: Fields.of(["User-Agent", "Mozilla/5.0 Chrome/60.0"]) })).to.equal(
      `${attributes}; Partitioned`,
    );
  });

  it("a policy can let the endpoint that answers a retry take over the session", () => {
    const cookie = { path: "/", changesOnFailure: true } as const;
    const upstream = harness().update({ sessionPersistence: { type: "cookie", name: "sid", cookie } });
    const first = pick(upstream);
    const headers = Fields.of(["Cookie", cookieOf(first)]);
    const retried = pick(upstream, { headers }, [first.endpoint]);
    expect(retried.endpoint).to.not.equal(first.endpoint);
    const again = pick(upstream, { headers: Fields.of(["Cookie", cookieOf(retried)]) });
    expect(again.endpoint).to.equal(retried.endpoint);
    expect(again.setCookie).to.equal(undefined);
  });

  it("a session that a retry leaves where it was gets no new cookie, so that its age counts from the first one", () => {
    const cookie = { path: "/", maxAgeSeconds: 60, changesOnFailure: true } as const;
    const upstream = harness().update({ sessionPersistence: { type: "cookie", name: "sid", cookie } });
    const first = pick(upstream);
    const received = Fields.of(["Cookie", cookieOf(first)]);
    const others = upstream.endpoints.filter((endpoint) => endpoint !== first.endpoint);
    const retried = pick(upstream, { received }, others);
    expect(retried.endpoint).to.equal(first.endpoint);
    expect(retried.setCookie).to.equal(undefined);
  });

  it("a session cookie takes precedence over the algorithm", () => {
    const loadBalancer = { algorithm: "hash", key: { from: "source-ip" } } as const;
    const upstream = harness().update({ ...policy, loadBalancer });
    const bound = pick(upstream);
    const other = Array.from({ length: 50 }, (_, i) => `198.51.100.${i}`).find(
      (clientIp) => pick(upstream, { clientIp }).endpoint !== bound.endpoint,
    );
    const moved = { clientIp: other ?? "", received: Fields.of(["Cookie", cookieOf(bound)]) };
    expect(pick(upstream, moved).endpoint).to.equal(bound.endpoint);
  });

  it("a cookie that is forged, of another Service or of a removed endpoint is replaced", () => {
    const { update, sessionKey } = harness();
    const upstream = update(policy);
    const otherService = new UpstreamView(
      { ...identity, service: "ns/other" },
      { breakers: breakerEnvironment().environment, sessionKey, random: () => 0 },
    ).update(all, { policy });
    const bound = pick(upstream);
    for (const cookie of [
      "sid=forged",
      "sid=",
      cookieOf(pick(otherService)),
      cookieOf(bound).toUpperCase(),
    ]) {
      expect(pick(upstream, { received: Fields.of(["Cookie", cookie]) }).setCookie).to.match(/^sid=/);
    }
    const shrunk = update(
      policy,
      all.filter((endpoint) => endpoint !== bound.endpoint),
    );
    const moved = pick(shrunk, { received: Fields.of(["Cookie", cookieOf(bound)]) });
    expect(moved.endpoint).to.not.equal(bound.endpoint);
    expect(cookieOf(moved)).to.not.equal(cookieOf(bound));
  });

  it("a retry ignores the session cookie, and sets one only for a client without", () => {
    const upstream = harness().update(policy);
    const bound = pick(upstream);
    const received = Fields.of(["Cookie", cookieOf(bound)]);
    const retried = pick(upstream, { received }, [bound.endpoint]);
    expect(retried.endpoint).to.not.equal(bound.endpoint);
    expect(retried.setCookie).to.equal(undefined);
    expect(pick(upstream, {}, [bound.endpoint]).setCookie).to.match(/^sid=/);
  });

  it("session cookies are invalid under another key, and off without a key", () => {
    const { update, sessionKey } = harness();
    const upstream = update(policy);
    const before = pick(upstream);
    sessionKey.current = Buffer.from("another key");
    expect(pick(upstream, { received: Fields.of(["Cookie", cookieOf(before)]) }).setCookie).to.match(/^sid=/);
    sessionKey.current = undefined;
    expect(pick(upstream, { received: Fields.of(["Cookie", cookieOf(before)]) }).setCookie).to.equal(
      undefined,
    );
  });
});

describe("UpstreamView: session persistence by header", () => {
  const policy: BackendPolicy = { sessionPersistence: { type: "header", name: "x-session" } };

  it("session persistence by header keeps clients with one value together, and others follow the algorithm", () => {
    const upstream = harness().update(policy);
    const by = (value: string) => pick(upstream, { received: Fields.of(["X-Session", value]) }).endpoint;
    const values = Array.from({ length: 20 }, (_, index) => `s${index}`);
    expect(values.map(by)).to.deep.equal(values.map(by));
    expect(new Set(values.map(by)).size).to.equal(3);
    expect(hosts(upstream, 3)).to.deep.equal(["0", "1", "2"]);
    expect(pick(upstream).setCookie).to.equal(undefined);
  });

  it("a retry ignores the session header", () => {
    const upstream = harness().update(policy);
    const received = Fields.of(["X-Session", "s1"]);
    const retried = Array.from({ length: 3 }, () => pick(upstream, { received }, []).endpoint);
    expect(new Set(retried).size).to.equal(3);
  });
});
