import type { AuthJwt, TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import type { AcceptedToken } from "../auth/auth-store.ts";
import { claimHeaders } from "../auth/claim-headers.ts";
import { compileIdentityStripper } from "../auth/identity-headers.ts";
import type { VerificationKeys } from "../auth/key-set.ts";
import { createSecretDigest } from "../auth/secret-digest.ts";
import { tokenReply } from "../auth/token-reply.ts";
import { verifyToken, type SignatureTurn, type TokenDefect } from "../auth/token.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { FieldBlock } from "../message/field-block.ts";
import type { Fields } from "../message/fields.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { FilterEnvironment } from "./environment.ts";

const unavailable: LocalReply = tokenReply("token-keys-unavailable");

/** The maximum length of remembered claim headers, in characters. Tokens with longer ones are verified each time. */
const maxRememberedLength = 2_048;

/** The changes that a valid token makes to the request once all other required tokens are valid too. */
type Proof = {
  /** The header that held the token; undefined when it is forwarded upstream. */
  readonly spent: TokenSource | undefined;
  readonly stripIdentity: (headers: Fields) => void;
  readonly claims: FieldBlock;
};
type Verdict = Proof | LocalReply;
type Check = (exchange: Exchange) => Verdict | Promise<Verdict>;

/**
 * Lets requests pass that have a valid token for every JwtAuth, and sends the claims of the tokens upstream. Tokens
 * that were verified before are accepted without verifying them again. See docs/features/auth-jwt.md.
 */
export function authJwtFilter(
  asked: AuthJwt,
  store: FilterEnvironment["auth"],
  now: () => number = Date.now,
): Filter {
  const present = asked.flatMap(({ rules }) => rules ?? []);
  const ownedFields = present.flatMap(identityFields);
  const stripIdentity = compileIdentityStripper(ownedFields);
  return {
    slug: "auth-jwt",
    ownedFields,
    onRequest: present.length < asked.length ? () => unavailable : checkTokens(present, store, now),
    onUnchecked: ({ headers }) => stripIdentity(headers),
  };
}

function checkTokens(
  present: readonly TokenRules[],
  store: FilterEnvironment["auth"],
  now: () => number,
): NonNullable<Filter["onRequest"]> {
  const checks = present.map((rules) => compileCheck(rules, store, now));
  const [only] = checks;
  return only !== undefined && checks.length === 1 ? passOne(only) : passAll(checks);
}

function passOne(check: Check): NonNullable<Filter["onRequest"]> {
  const settle = (exchange: Exchange, verdict: Verdict): LocalReply | undefined => {
    if ("status" in verdict) return verdict;
    take(exchange, verdict);
    add(exchange.headers, verdict);
    return undefined;
  };
  return (exchange) => {
    const verdict = check(exchange);
    return verdict instanceof Promise
      ? verdict.then((late) => settle(exchange, late))
      : settle(exchange, verdict);
  };
}

/** Runs the checks sequentially. Headers are changed only after the last one, because all of the checks must succeed. */
function passAll(checks: readonly Check[]): NonNullable<Filter["onRequest"]> {
  return async (exchange) => {
    const proofs: Proof[] = [];
    for (const check of checks) {
      const verdict = await check(exchange);
      if ("status" in verdict) return verdict;
      if (exchange.finished) return undefined;
      proofs.push(verdict);
    }
    for (const proof of proofs) take(exchange, proof);
    // When two tokens set a claim header of the same name, the later one wins.
    for (const proof of proofs) add(exchange.headers, proof);
    return undefined;
  };
}

/**
 * Removes the header of the token. Must precede the claim headers, one of which can have the same name. A header that a
 * filter of the listener has set in its place is kept.
 */
function take({ headers, received, listenerFilters }: Exchange, { spent }: Proof): void {
  if (spent === undefined) return;
  const { name, names } = spent;
  if (listenerFilters.length === 0 || headers.joined(name) === received.joined(name)) headers.remove(names);
}

function add(headers: Fields, { stripIdentity, claims }: Proof): void {
  stripIdentity(headers);
  headers.appendBlock(claims);
}

/** The names of the headers in which the upstream gets the claims of a token. */
const identityFields = ({ claimToHeaders, payloadHeader }: TokenRules): readonly string[] => [
  ...claimToHeaders.map(({ header }) => header),
  ...(payloadHeader === undefined ? [] : [payloadHeader]),
];

function compileCheck(rules: TokenRules, store: FilterEnvironment["auth"], now: () => number): Check {
  const readToken = compileTokenReader(rules);
  const stripIdentity = compileIdentityStripper(identityFields(rules));
  // A digester per rule set: other rules, which can judge the same token differently, must not find these entries.
  const digestOf = createSecretDigest();

  const prove = (source: TokenSource, claims: FieldBlock): Proof => ({
    spent: rules.forward ? undefined : source,
    stripIdentity,
    claims,
  });

  // Signatures are checked in turns by the namespace of the keys, so that expensive keys do not delay other namespaces.
  const [owner = ""] = rules.keySet.split("/", 1);
  /** Tokens that are being verified, so that a token in many simultaneous requests is verified only once. */
  const underWay = new Map<string, UnderWay>();

  const verify = async (
    token: string,
    key: string,
    keys: VerificationKeys,
    isWanted: () => boolean,
  ): Promise<AcceptedToken | TokenDefect> => {
    const turn: SignatureTurn = (work) => store.signatures.run(owner, isWanted, work);
    const valid = await verifyToken(token, keys, rules, now(), turn);
    if (typeof valid === "string") return valid;
    const headers = claimHeaders(valid, rules);
    const accepted = { keys, headers: new FieldBlock(headers), fromMs: valid.fromMs };
    const length = headers.reduce((sum, text) => sum + text.length, 0);
    if (length <= maxRememberedLength) store.tokens.set(key, accepted, valid.untilMs);
    return accepted;
  };

  const verifyOnce = (
    token: string,
    key: string,
    keys: VerificationKeys,
    isWanted: () => boolean,
  ): UnderWay["verdict"] => {
    const other = underWay.get(key);
    if (other?.keys === keys) {
      other.wanted.push(isWanted);
      return other.verdict;
    }
    const wanted = [isWanted];
    const verdict = verify(token, key, keys, () => wanted.some((one) => one())).finally(() => {
      if (underWay.get(key)?.verdict === verdict) underWay.delete(key);
    });
    underWay.set(key, { keys, wanted, verdict });
    return verdict;
  };

  return (exchange) => {
    const keys = store.keys(rules.keySet);
    if (keys === undefined || keys.keys.length === 0) return unavailable;
    // As the client sent it: another JwtAuth, of the listener, can already have removed or replaced the header.
    const found = readToken(exchange.received);
    if (typeof found === "string") return tokenReply(found);
    const key = digestOf(found.token);
    const nowMs = now();
    const known = store.tokens.get(key, nowMs);
    // A token must not outlive the key that it was verified with, and the clock can have been set back.
    if (known?.keys === keys && known.fromMs <= nowMs) return prove(found.source, known.headers);
    return verifyOnce(found.token, key, keys, () => !exchange.finished).then((accepted) => {
      if (typeof accepted === "string") return tokenReply(accepted);
      return prove(found.source, accepted.headers);
    });
  };
}

type UnderWay = {
  readonly keys: VerificationKeys;
  readonly wanted: (() => boolean)[];
  readonly verdict: Promise<AcceptedToken | TokenDefect>;
};

/** A header that can hold the token: its name in lower case, the same name as a set, and the prefix of the token. */
type TokenSource = { readonly name: string; readonly names: ReadonlySet<string>; readonly prefix: string };
type FoundToken = { readonly token: string; readonly source: TokenSource };

/** A single token, `b64token` in RFC 6750 2.1. */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/;

/** Reads the token from the first listed header that the request has; the prefix is compared case-insensitively. */
function compileTokenReader({ fromHeaders }: TokenRules): (headers: Fields) => FoundToken | TokenDefect {
  const sources = fromHeaders.map(({ name, prefix }): TokenSource => {
    const lower = name.toLowerCase();
    return { name: lower, names: new Set([lower]), prefix: prefix.toLowerCase() };
  });
  return (headers) => {
    for (const source of sources) {
      const { name, prefix } = source;
      const value = headers.joined(name);
      if (value === undefined) continue;
      if (value.slice(0, prefix.length).toLowerCase() !== prefix) return "token-missing";
      const token = value.slice(prefix.length).trim();
      return tokenForm.test(token) ? { token, source } : "token-syntax";
    }
    return "token-missing";
  };
}
