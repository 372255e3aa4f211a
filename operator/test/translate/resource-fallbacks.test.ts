import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import type { KindName } from "../../src/api/kinds.ts";
import { validateObject } from "../../src/api/validate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { hostileSpecs } from "../api/hostile-specs.ts";
import { ours } from "../api/manifests.ts";
import { casesOf, resourceCases, show, withField } from "../api/resource-cases/index.ts";
import { outcomeOf, translateResource } from "./resource-worlds.ts";

/** The features of the routes that use the resource. */
const featuresOf = ({ routing }: Translation): readonly object[] =>
  routing.hosts
    .filter(({ host }) => host.host.startsWith("user."))
    .flatMap(({ value }) => value.routes.map(({ features = {} }) => features));

const everything = { paths: [{ type: "beginning", value: "/" }], statusCode: 403 };

/** Checks that a resource of a kind is closed: its clients are rejected, or a status gives the reason. */
const closedAs: { readonly [kind in KindName]?: (translation: Translation) => void } = {
  JwtAuth: (translation) => {
    for (const features of featuresOf(translation)) expect(features).to.deep.include({ "auth-jwt": [{}] });
  },
  SvcExternalAuth: (translation) => {
    for (const features of featuresOf(translation)) expect(features).to.deep.include({ "ext-auth": [{}] });
  },
  BasicAuth: ({ routing }) => {
    const routes = routing.hosts.flatMap(({ value }) => value.routes);
    const [user] = routes.filter(({ id }) => id === "httproute/shop/user:0");
    expect(user?.features).to.deep.equal({ "auth-basic-secret": [{}] });
  },
  RouteOptions: (translation) => {
    const closing = [
      { "auth-jwt": [{}] },
      { "ext-auth": [{ required: true }] },
      { "closed-paths": everything },
    ];
    const routes = translation.routing.hosts.flatMap(({ value }) => value.routes);
    const [user] = routes.filter(({ id }) => id === "httproute/shop/user:0");
    expect(closing.some((one) => isDeepStrictEqual({ ...user?.features, ...one }, user?.features))).to.equal(
      true,
    );
  },
  ClientTrafficPolicy: ({ gatewayPolicies, scopes }) => {
    expect(gatewayPolicies[0]?.ancestors[0]).to.include({ reason: "Invalid" });
    const listeners = scopes.shared.filter(({ key }) => key.startsWith("listener|shop/"));
    expect(JSON.stringify(listeners)).to.include("accepted").and.include("trustedPeers");
  },
  SvcGatewayParameters: ({ gatewayStatuses }) => {
    const [accepted] = gatewayStatuses.gateways[0]?.conditions ?? [];
    expect(accepted).to.include({ type: "Accepted", status: "False", reason: "InvalidParameters" });
    expect(accepted?.message).to.match(/podTemplate/);
  },
};

/** Findings that name a field, in their place or in their words; not those about two fields that do not fit together. */
const findingsAbout = ({ diagnostics }: Translation, path: string) =>
  diagnostics.filter(
    ({ field = "", message, reason }) =>
      reason !== "GroupMissing" && [field, message].some((text) => text.includes(`spec.${path}`)),
  );

const nothing = outcomeOf(translateResource(undefined));

describe("translate: values of fields of the gateway's own resources", () => {
  for (const [kind, cases] of resourceCases) {
    const full = translateResource(kind, cases.full);

    it(`${kind}: a valid object changes the outcome`, () => {
      expect(outcomeOf(full)).to.not.deep.equal(nothing);
    });

    it(`${kind}: each value has the effect in the table, and an unused value is reported at its field`, () => {
      for (const { path, value, verdict, instead } of casesOf(cases)) {
        if (verdict === "refused") continue;
        const what = `${path}: ${show(value)}`;
        const translation = translateResource(kind, withField(cases.full, path, value));
        const about = findingsAbout(translation, path);
        if (verdict === "taken" || verdict === "equal") expect(about, what).to.deep.equal([]);
        else if (verdict !== "closed") expect(about, what).to.not.deep.equal([]);
        if (verdict === "equal" || verdict === "ignored") {
          const same = translateResource(kind, withField(cases.full, path, instead));
          expect(outcomeOf(translation), what).to.deep.equal(outcomeOf(same));
        } else if (verdict === "off") {
          expect(featuresOf(translation), what).to.deep.equal(featuresOf(full).map(() => ({})));
        } else if (verdict === "closed") {
          expect(translation.diagnostics, what).to.not.deep.equal([]);
          closedAs[kind]?.(translation);
        }
      }
    });

    it(`${kind}: hostile values break neither the translation nor a neighbour`, () => {
      for (const { spec } of hostileSpecs(kind, cases.full)) {
        if (validateObject(ours(kind, spec)).ok) translateResource(kind, spec);
      }
    });
  }
});
