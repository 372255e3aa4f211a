import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import {
  createBootstrap,
  type BootstrapOptions,
  type BootstrapRejection,
  type IssuedIdentity,
} from "@svc-gateway/operator/discovery/bootstrap.ts";
import { createCaKeeper, type CaKeeper } from "@svc-gateway/operator/discovery/ca-keeper.ts";
import { createExpectedPrincipals } from "@svc-gateway/operator/discovery/principals.ts";
import { BootstrapRequest } from "@svc-gateway/proto/generated/discovery.js";
import { until } from "../../../common/test/until.ts";
import { createMemoryCaStore } from "./support/memory-ca-store.ts";
import { createSigningRequest } from "./support/signing-request.ts";

const shared = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };
const dayMs = 24 * 60 * 60_000;

describe("the decision about a bootstrap", () => {
  let keeper: CaKeeper;
  let request: Uint8Array;
  before(async () => {
    keeper = createCaKeeper({
      store: createMemoryCaStore(),
      mode: "auto",
      trustDomain: "cluster.local",
      svidLifetimeMs: dayMs,
      isLeading: () => true,
      log: silentLogger,
    });
    await keeper.reconcile();
    const { csrPem } = await createSigningRequest();
    request = new BootstrapRequest({ sa_token: "token", csr_pem: csrPem, wire_version: 2 }).serialize();
  });
  after(() => keeper.stop());

  const bootstrapWith = (options: Partial<BootstrapOptions>) =>
    createBootstrap({
      keeper,
      principals: createExpectedPrincipals({ shared, dedicated: () => [] }),
      reviewToken: () => Promise.resolve(ok(shared)),
      svidLifetimeMs: dayMs,
      ...options,
    });
  const reasonOf = (result: Result<IssuedIdentity, BootstrapRejection>): string =>
    result.ok ? "ok" : result.error.reason;

  it("the token is reviewed for the audience of the discovery channel", async () => {
    const asked: string[][] = [];
    const decide = bootstrapWith({
      reviewToken: (token, audience) => {
        asked.push([token, audience]);
        return Promise.resolve(ok(shared));
      },
    });
    expect(reasonOf(await decide(request))).to.equal("ok");
    expect(asked).to.deep.equal([["token", "svc-discovery"]]);
  });

  it("a bootstrap without a usable authority is rejected as ca_not_ready, without a review of the token", async () => {
    const reviewToken = (): never => expect.fail("the token was reviewed");
    const none = bootstrapWith({ reviewToken, keeper: { ...keeper, current: () => undefined } });
    expect(reasonOf(await none(request))).to.equal("ca_not_ready");
    const late = { ...systemClock, nowMs: () => Date.now() + 11 * 366 * dayMs };
    const expired = bootstrapWith({ reviewToken, clock: late });
    expect(reasonOf(await expired(request))).to.equal("ca_not_ready");
  });

  it("a bootstrap whose token review throws is rejected as token_review_error", async () => {
    const decide = bootstrapWith({ reviewToken: () => Promise.reject(new Error("socket hang up")) });
    expect(reasonOf(await decide(request))).to.equal("token_review_error");
  });

  it("the signing request is parsed only after the caller is authenticated", async () => {
    const nonsense = new BootstrapRequest({ sa_token: "token", csr_pem: Buffer.from("x"), wire_version: 2 });
    const unauthenticated = bootstrapWith({
      reviewToken: () => Promise.resolve(fail({ reason: "sa_token", message: "wrong" })),
    });
    expect(reasonOf(await unauthenticated(nonsense.serialize()))).to.equal("sa_token");
    expect(reasonOf(await bootstrapWith({})(nonsense.serialize()))).to.equal("malformed_csr");
  });

  it("a bootstrap is rejected as signing_error when the authority cannot sign", async () => {
    const state = keeper.current();
    if (state === undefined) throw new Error("no authority");
    const authority = { ...state.authority, issueSvid: () => Promise.reject(new Error("no entropy")) };
    const decide = bootstrapWith({ keeper: { ...keeper, current: () => ({ ...state, authority }) } });
    expect(reasonOf(await decide(request))).to.equal("signing_error");
  });

  it("callers beyond the limit of waiting reviews are rejected, and served again later", async () => {
    const release: (() => void)[] = [];
    const decide = bootstrapWith({
      reviewToken: () => new Promise((resolve) => release.push(() => resolve(ok(shared)))),
    });
    const pending = [...Array(16 + 128)].map(() => decide(request));
    const late = await Promise.all([1, 2, 3].map(() => decide(request)));
    expect(late.map(reasonOf)).to.deep.equal(["internal", "internal", "internal"]);
    expect(release).to.have.length(16);
    const decided: string[] = [];
    for (const one of pending) void one.then((result) => decided.push(reasonOf(result)));
    await until(() => {
      for (const next of release.splice(0)) next();
      return decided.length === pending.length;
    }, "all who waited are served");
    expect(new Set(decided)).to.deep.equal(new Set(["ok"]));
    const next = decide(request);
    await until(() => release.length > 0, "the next caller is reviewed");
    release.splice(0).forEach((one) => one());
    expect(reasonOf(await next)).to.equal("ok");
  });
});
