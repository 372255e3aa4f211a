import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { nginxAnnotations } from "../../../src/translate/ingress-nginx/annotations/index.ts";
import { readValue } from "../../../src/translate/ingress-nginx/value.ts";
import { translate } from "../../../src/translate/translate.ts";
import type { Translation } from "../../../src/translate/translation.ts";
import { createWorld } from "../../../src/world.ts";
import {
  goldenValues,
  guestOf,
  hostileValues,
  owner,
  ownersObjects,
  ownersPlainObjects,
  prefix,
  readInParts,
  settings,
  sharedHost,
} from "./hostile-values.ts";

const withGuests = (guests: readonly KubeObject[]): Translation =>
  translate(createWorld([...ownersObjects, ...guests]), settings);

const guestsWith = (value: string): readonly KubeObject[] =>
  [...nginxAnnotations.keys()].map((name) => guestOf(name, value));

/** The route without its place among the regular expressions of the host, which those of guests can change. */
function withoutTier(route: Route): Omit<Route, "tier"> {
  const { tier: _, ...rest } = route;
  return rest;
}

/** Everything that clients of the owner's hosts can observe, except the paths of guests on these hosts. */
const servedForOwner = ({ routing, diagnostics, scopes }: Translation): unknown => ({
  hosts: routing.hosts.flatMap(({ host, ports, value }) =>
    host.host === sharedHost || host.host === "owner.example"
      ? [{ host, ports, ...value, routes: value.routes.filter(isOwners).map(withoutTier) }]
      : [],
  ),
  findings: diagnostics.filter(({ object }) => object.namespace === owner),
  handshakes: scopes.shared
    .filter(({ key }) => /^(?:tls|clientcert)\|/.test(key))
    .flatMap(({ body }) => (JSON.parse(body) as { hosts?: readonly { host: string }[] }).hosts ?? [])
    .filter(({ host }) => host === sharedHost || host === "owner.example"),
});

/** The owner's routes on the host that guests name as well. */
const ownersRoutes = ({ routing }: Translation): readonly Omit<Route, "tier">[] =>
  routing.hosts
    .filter(({ host }) => host.host === sharedHost)
    .flatMap(({ value }) => value.routes.filter(isOwners).map(withoutTier));

function withoutRedirect({ features, ...route }: Omit<Route, "tier">): Omit<Route, "tier"> {
  const { "ssl-redirect": _, ...others } = features ?? {};
  return { ...route, features: others };
}

const isOwners = ({ source }: Route): boolean => source.namespace === owner;

/** Names that clients could reach the owner's paths by, besides the owner's own. */
const strangeHostsOfOwner = ({ routing }: Translation): readonly string[] =>
  routing.hosts.flatMap(({ host, value }) =>
    host.host !== sharedHost && host.host !== "owner.example" && value.routes.some(isOwners)
      ? [host.host]
      : [],
  );

/** The names of the guests that affect the owner. Tries all of them together first, and then each one. */
function harmful(guests: readonly KubeObject[], together: Translation, alone: unknown): readonly string[] {
  const isHarmless = (translation: Translation): boolean =>
    JSON.stringify(servedForOwner(translation)) === JSON.stringify(alone) &&
    strangeHostsOfOwner(translation).length === 0;
  if (isHarmless(together)) return [];
  const found = guests.filter((guest) => !isHarmless(withGuests([guest])));
  return (found.length === 0 ? guests : found).map(({ metadata }) => metadata.name);
}

// oxlint-disable-next-line no-control-regex
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Texts of the snapshot with characters that would end a line or hide what follows, with the resource. */
function hiddenTexts({ scopes }: Translation): readonly string[] {
  const found: string[] = [];
  for (const resource of scopes.shared) {
    const decoded = decodeResource(resource);
    if (!decoded.ok) found.push(`${resource.key} cannot be decoded`);
    JSON.parse(resource.body, (name, value: unknown) => {
      if (typeof value === "string" && hidden.test(value)) found.push(`${resource.key} ${name}: ${value}`);
      return value;
    });
  }
  return found;
}

/** Messages that would break a line of a log, or would not fit an Event. */
const unfitMessages = ({ diagnostics, events }: Translation): readonly string[] => [
  ...diagnostics.flatMap(({ message }) => (hidden.test(message) || message.length > 1500 ? [message] : [])),
  ...events.flatMap(({ message }) =>
    hidden.test(message) || Buffer.byteLength(message) > 1024 ? [message] : [],
  ),
];

/** The invalid values of guests that no finding explains: its annotation, what ingress-nginx does, and what happens here. */
function unexplained(value: string, { diagnostics }: Translation): readonly string[] {
  return [...nginxAnnotations.values()].flatMap((annotation) => {
    const { name } = annotation;
    if (readValue(annotation, value)?.ok !== false) return [];
    const messages = diagnostics.flatMap(({ object, field, message }) =>
      object.namespace === "guest" && object.name === name && field?.includes(`${prefix}${name}`) === true
        ? [message]
        : [],
    );
    const isNamed = messages.some(
      (message) =>
        message.startsWith(`${prefix}${name}: `) &&
        /ingress-nginx would .*, here |as in ingress-nginx, /.test(message) &&
        /answered 503|without the setting|is ignored/.test(message),
    );
    return isNamed ? [] : [`${name}: ${messages.join(" | ")}`];
  });
}

describe("annotations of ingress-nginx with hostile values", () => {
  const alone = servedForOwner(withGuests([]));

  for (const [kind, value] of Object.entries(hostileValues)) {
    it(`${kind} in any annotation is named or harmless, and changes nothing of the host's owner`, () => {
      const guests = guestsWith(value);
      const translation = withGuests(guests);
      expect(
        translation.diagnostics.filter(({ reason }) => reason === "InternalError"),
        "exceptions",
      ).to.deep.equal([]);
      expect(unexplained(value, translation), "without an explanation").to.deep.equal([]);
      expect(hiddenTexts(translation), "in the snapshot").to.deep.equal([]);
      expect(unfitMessages(translation), "messages").to.deep.equal([]);
      expect(harmful(guests, translation, alone), "change what the owner has").to.deep.equal([]);
    });
  }

  it("no value of the golden cases changes anything of a host's owner in another namespace", () => {
    const guests = [...goldenValues()].flatMap(([name, values]) =>
      values.map((value, index) => guestOf(name, value, `${name}-${index}`)),
    );
    const translation = withGuests(guests);
    expect(guests.length).to.be.above(400);
    expect(harmful(guests, translation, alone)).to.deep.equal([]);
  });

  it("a younger namespace that lists a host under spec.tls redirects its owner's paths, which is a finding, and no value of the golden cases does more", () => {
    const withTls = (guests: readonly KubeObject[]): Translation =>
      translate(createWorld([...ownersPlainObjects, ...guests]), settings);
    const plain = ownersRoutes(withTls([]));
    const first = guestOf("affinity", "", "first", [sharedHost]);
    const redirected = ownersRoutes(withTls([first]));
    expect(redirected.map((route) => withoutRedirect(route))).to.deep.equal(plain);
    expect(redirected.map(({ features }) => features?.["ssl-redirect"]?.statusCode)).to.deep.equal([
      308, 308,
    ]);
    const guests = [...goldenValues()].flatMap(([name, values]) =>
      values.map((value, index) => guestOf(name, value, `${name}-${index}`, [sharedHost])),
    );
    const together = withTls(guests);
    expect(ownersRoutes(together)).to.deep.equal(redirected);
    const named = together.diagnostics.filter(({ reason }) => reason === "TlsForOthers");
    expect(named.map(({ object, field }) => `${object.namespace} ${field}`)).to.deep.equal([
      "guest spec.tls[0]",
    ]);
    // Of what holds for a whole host only one Ingress may decide, so each is tried alone as well.
    const ofHosts = guests.filter(({ metadata: { name } }) =>
      /^(?:auth-tls|app-root|from-to|server-|ssl-|use-|rewrite)/.test(name),
    );
    expect(ofHosts.length).to.be.above(50);
    const changing = ofHosts.filter(
      (guest) => !isDeepStrictEqual(ownersRoutes(withTls([guest])), redirected),
    );
    expect(changing.map(({ metadata }) => metadata.name)).to.deep.equal([]);
  });

  it("NUL makes the value of every annotation invalid, but for snippets, which are only read, and origins, which are read one by one", () => {
    const accepting = [...nginxAnnotations.values()].filter((annotation) =>
      ["a\u0000b", "true\u0000", "/a\u0000", "https://a.example/\u0000", "10.0.0.1\u0000", "1\u0000"].some(
        (value) => readValue(annotation, value)?.ok === true,
      ),
    );
    expect(accepting.map(({ name }) => name)).to.have.members(readInParts);
  });
});
