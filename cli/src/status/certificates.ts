/** Finds certificates that are served and expire soon. */
import { nameOf, refOf } from "@svc-gateway/operator/api/object.ts";
import { readKeyPair } from "@svc-gateway/operator/translate/certificates/tls-secret.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import { error, warning, type StatusProblem } from "./problem.ts";

export type EndingCertificate = {
  /** `namespace/name`. */
  readonly secret: string;
  readonly names: readonly string[];
  readonly notAfter: string;
  readonly problem: StatusProblem;
};

const dayMs = 24 * 60 * 60 * 1000;
/** The maximum number of names to list for one certificate. */
const maxNames = 5;

/** The certificates of Secrets that any port serves and that expire within `withinMs`, the earliest first. */
export function endingCertificates(
  { Secret: secrets }: Pick<World, "Secret">,
  { routing, scopes }: Pick<Translation, "routing" | "scopes">,
  { nowMs, withinMs }: { readonly nowMs: number; readonly withinMs: number },
): readonly EndingCertificate[] {
  const served = new Set(
    [routing, ...scopes.dedicated.map((scope) => scope.routing)].flatMap(({ tls }) =>
      [...tls.values()].flatMap(({ certificates }) => Object.keys(certificates)),
    ),
  );
  const found = secrets.flatMap((secret): (EndingCertificate & { readonly endMs: number })[] => {
    const pair = readKeyPair(secret);
    if (!pair.ok || !served.has(pair.value.id) || pair.value.notAfterMs - nowMs > withinMs) return [];
    const { notAfterMs: endMs, names } = pair.value;
    const notAfter = new Date(endMs).toISOString();
    const subject = `Secret ${nameOf(refOf(secret))}`;
    const days = Math.floor((endMs - nowMs) / dayMs);
    const problem =
      endMs <= nowMs
        ? error(subject, `its certificate ended on ${notAfter}: clients reject it`)
        : warning(subject, `its certificate ends in ${days} ${days === 1 ? "day" : "days"}, on ${notAfter}`);
    return [
      { secret: nameOf(refOf(secret)), names: [...names].slice(0, maxNames), notAfter, problem, endMs },
    ];
  });
  return found
    .sort((a, b) => a.endMs - b.endMs || (a.secret < b.secret ? -1 : 1))
    .map(({ endMs: _endMs, ...one }) => one);
}
