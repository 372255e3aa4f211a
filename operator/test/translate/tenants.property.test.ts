import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { KubeObject } from "../../src/api/object.ts";
import { ageOf, compareAges } from "../../src/translate/age.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld } from "../../src/world.ts";
import {
  backend,
  belongings,
  byPrecedence,
  certificateData,
  fulfils,
  hasRules,
  hostile,
  hostileAnnotations,
  ingressesOf,
  isLetIn,
  ofVictim,
  oneOf,
  ourClass,
  ownAnnotations,
  equalRouteOf,
  resourcesOf,
  selfGrant,
  slotsOf,
  type Ingress,
  victim,
} from "./tenants.ts";

describe("translate: two tenants, of whom one is hostile", () => {
  const worlds = fc.record({
    own: ingressesOf(victim, ownAnnotations as fc.Arbitrary<Record<string, string>>, {
      defaultBackend: fc.constant(undefined),
    }),
    others: ingressesOf(hostile, hostileAnnotations, { defaultBackend: oneOf(undefined, backend) }),
  });
  const both = (own: readonly Ingress[], others: readonly Ingress[]): readonly [Translation, Translation] => {
    const alone = [ourClass, ...belongings(victim), ...own];
    const together = [...alone, selfGrant, ...belongings(hostile), ...others];
    return [alone, together].map((objects) =>
      translate(createWorld(objects), defaultTranslateSettings),
    ) as unknown as readonly [Translation, Translation];
  };
  const ageOfNamed = (all: readonly Ingress[], { source }: Route): ReturnType<typeof ageOf> => {
    const found = all.find(
      ({ metadata }) => metadata.namespace === source.namespace && metadata.name === source.name,
    );
    if (found === undefined) throw new Error(`${source.namespace}/${source.name} is nobody's`);
    return ageOfIngress(found);
  };

  const claims = ({ spec }: Ingress, host: string): boolean => {
    const { rules, defaultBackend } = spec as {
      rules: readonly { host?: string }[];
      defaultBackend?: object;
    };
    return (
      rules.some((rule) => (rule.host ?? "*") === host) || (host === "*" && defaultBackend !== undefined)
    );
  };
  const ageOfIngress = (one: Ingress): ReturnType<typeof ageOf> => ageOf(one as Parameters<typeof ageOf>[0]);

  it("a hostile tenant changes no path level of a host that the other tenant claimed first", () => {
    const levelOf = ({ routing }: Translation, name: string): string | undefined =>
      routing.hosts.find(({ host }) => host.host === name)?.value.pathLevel;
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        for (const { host, value } of alone.routing.hosts) {
          const agesOf = (all: readonly Ingress[]): readonly ReturnType<typeof ageOf>[] =>
            all.filter((one) => claims(one, host.host)).map(ageOfIngress);
          const theirs = agesOf(others);
          const isFirst = agesOf(own).some((one) => theirs.every((other) => compareAges(one, other) < 0));
          if (isFirst) expect(levelOf(together, host.host)).to.equal(value.pathLevel);
        }
      }),
    );
  });

  it("a hostile tenant changes no route of the other, except where its Ingress is older", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const after = slotsOf(together);
        for (const [slot, route] of slotsOf(alone)) {
          const same = after.get(slot);
          // At the level of an older Ingress, a path can equal another one, also of the same Ingress.
          const now = same ?? equalRouteOf(together, slot, route);
          if (now === undefined) expect.fail(`${slot} is gone`);
          if (!ofVictim(now)) {
            expect(compareAges(ageOfNamed(others, now), ageOfNamed(own, route))).to.be.below(0);
          } else if (same !== undefined) {
            expect(same).to.deep.equal(route);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant changes no endpoints, credentials, policies, findings or Events of the other", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const after = resourcesOf(together);
        for (const [key, body] of resourcesOf(alone)) {
          if (/^(?:endpoints|htpasswd|jwks)\|/.test(key)) expect(after.get(key), key).to.equal(body);
        }
        const about = ({ diagnostics }: Translation): readonly string[] =>
          diagnostics
            .filter(({ object, reason }) => object.namespace === victim && !byPrecedence.has(reason))
            .map(({ object, reason, field, message }) => JSON.stringify([object, reason, field, message]));
        const isOwnership = (text: string): boolean => text.includes(" whose TLS belongs to ");
        // A younger Ingress of a host gets a finding that its rules for client certificates do not apply.
        expect(about(together).filter((text) => !isOwnership(text))).to.have.members(
          about(alone).filter((text) => !isOwnership(text)),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant gets no credentials of the other tenant into its routes", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const known = resourcesOf(alone);
        const gained = [...resourcesOf(together).keys()].filter(
          (key) => /^(?:htpasswd|jwks)\|shop\//.test(key) && !known.has(key),
        );
        expect(gained).to.deep.equal([]);
        for (const route of slotsOf(together).values()) {
          if (ofVictim(route)) continue;
          // A path may read like the name of something.
          const { "rewrite-target": _, redirect: __, ...features } = route.features ?? {};
          expect(JSON.stringify(features)).to.not.include(`${victim}/`);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant lets no connection reach a route that client certificates of the other protect", () => {
    const settingsOf = (hasDefault: boolean, isOwned: boolean): TranslateSettings => ({
      ...defaultTranslateSettings,
      hostOwnership: isOwned ? "namespace" : "off",
      ...(hasDefault && { defaultTlsSecret: { namespace: "infra", name: "cert" } }),
    });
    const defaultSecret: KubeObject & { readonly type: string; readonly data: object | undefined } = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "infra", name: "cert" },
      type: "kubernetes.io/tls",
      data: certificateData,
    };
    const dependent = (secret: string): fc.Arbitrary<Record<string, string>> =>
      oneOf({}, { "ingress.svc-labs.dev/auth-tls-secret": secret });
    const more = { defaultBackend: fc.constant(undefined), hasTls: true };
    const withTls = fc.record({
      own: ingressesOf(victim, dependent("shop/clients"), more),
      others: ingressesOf(hostile, dependent("blog/clients"), more),
    });
    const flags = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
    let closed = 0;
    fc.assert(
      fc.property(withTls, flags, ({ own, others }, [hasDefault, hasCertificate, isOwned]) => {
        // The server certificate of the victim is missing for a while, or not.
        const mine = belongings(victim).filter(({ metadata }) => hasCertificate || metadata.name !== "cert");
        const alone = [ourClass, defaultSecret, ...mine, ...own];
        const settings = settingsOf(hasDefault, isOwned);
        const before = translate(createWorld(alone), settings);
        const after = translate(
          createWorld([...alone, selfGrant, ...belongings(hostile), ...others]),
          settings,
        );
        // Everything that a handshake may have proven, and nothing at all.
        const proofs = [undefined, ...(after.routing.clientCerts.get(443)?.hosts ?? [])];
        const then = slotsOf(after);
        for (const [slot, route] of slotsOf(before)) {
          const now = then.get(slot);
          if (now === undefined || !ofVictim(now)) continue;
          if (hasRules(own, now)) expect(isLetIn(after, slot, now, undefined), slot).to.equal(false);
          for (const proof of proofs) {
            if (isLetIn(after, slot, now, proof)) {
              const isByOwnRules = now.clients !== undefined && fulfils(now.clients, proof);
              expect(isByOwnRules || isLetIn(before, slot, route, proof), slot).to.equal(true);
            } else if (proof === undefined) closed++;
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(closed).to.be.above(50);
  });

  it("a hostile tenant gets nothing of a host that the other named first when namespaces own hosts", () => {
    const settings: TranslateSettings = { ...defaultTranslateSettings, hostOwnership: "namespace" };
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const alone = [ourClass, ...belongings(victim), ...own];
        const before = translate(createWorld(alone), settings);
        const after = translate(
          createWorld([...alone, selfGrant, ...belongings(hostile), ...others]),
          settings,
        );
        for (const { host, value } of before.routing.hosts) {
          // Whose every host is depends on paths that can be used, as default backends are everybody's there.
          if (host.kind === "any") continue;
          const naming = (all: readonly Ingress[]): readonly Ingress[] =>
            all.filter(({ spec }) =>
              (spec as { rules: readonly { host?: string }[] }).rules.some(
                (rule) => (rule.host ?? "*") === host.host,
              ),
            );
          const theirs = naming(others).map(ageOfIngress);
          const isFirst = naming(own).some((one) =>
            theirs.every((other) => compareAges(ageOfIngress(one), other) < 0),
          );
          if (!isFirst) continue;
          const now = after.routing.hosts.find((one) => one.host.host === host.host)?.value;
          // Handshakes for a host that no Ingress lists are those of a wildcard, of any owner.
          expect({ ...now, clients: undefined }, host.host).to.deep.equal({ ...value, clients: undefined });
        }
      }),
      { numRuns: 200 },
    );
  });

  it("the older owner of a host keeps its certificates and client certificates", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        // Here every Ingress of the victim is older than every other.
        const older = own.map((one) => ({
          ...one,
          metadata: { ...one.metadata, creationTimestamp: "2020-01-01T00:00:00Z" },
        }));
        const [alone, together] = both(older, others);
        const tlsOf = (
          translation: Translation,
        ): { readonly hosts: readonly { readonly host: string }[] }[] =>
          ["tls|443", "clientcert|443"].map(
            (key) =>
              JSON.parse(resourcesOf(translation).get(key) ?? '{"hosts":[]}') as {
                readonly hosts: readonly { readonly host: string }[];
              },
          );
        const listed = new Map(tlsOf(alone)[0]?.hosts.map((entry) => [entry.host, entry]));
        const asked = new Map(tlsOf(alone)[1]?.hosts.map((entry) => [entry.host, entry]));
        for (const host of listed.keys()) {
          const [certificates, clients] = tlsOf(together);
          expect(certificates?.hosts.find((entry) => entry.host === host)).to.deep.equal(listed.get(host));
          expect(clients?.hosts.find((entry) => entry.host === host)).to.deep.equal(asked.get(host));
        }
      }),
      { numRuns: 150 },
    );
  });
});
