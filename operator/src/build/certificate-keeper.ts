import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import type { ObjectOf } from "../api/kinds.ts";
import { nameOf } from "../api/object.ts";
import { wasServed, withLastGood } from "../translate/certificates/last-good.ts";
import { isTlsSecret, readTlsSecret, type TlsCertificate } from "../translate/certificates/tls-secret.ts";
import { haveSameItems } from "../translate/incremental/memo.ts";
import { updateWorld, type World } from "../world.ts";

type Secret = ObjectOf<"Secret">;

export type CertificateKeeper = {
  /**
   * Returns the world to translate at a time (milliseconds since 1970): unusable Secrets have their last good
   * certificate.
   */
  keep(world: World, nowMs: number): World;
  /** The number of Secrets whose last good certificate is in service. */
  readonly count: number;
};

type Kept = {
  /** The present Secret of the source. */
  readonly unusable: Secret;
  /** The same Secret with its last good certificate. */
  readonly withCertificate: Secret;
  readonly certificate: TlsCertificate;
};

/** The largest size, in bytes, of certificates and keys that are kept for the Secrets of one namespace. */
const maxBytesOfNamespace = 4 * 1_048_576;

/**
 * Keeps the last usable certificate of a Secret in service after the Secret became unusable, until that certificate
 * expires, the Secret becomes usable or is deleted, or no object refers to it any more. A Secret that is deleted and
 * created again (another uid) is another Secret. Only certificates that were in service are kept, in memory: a new
 * process has none (docs/features/tls.md, "Certificates change without a restart").
 */
export function createCertificateKeeper(): CertificateKeeper {
  const kept = new Map<string, Kept>();
  let last: World["Secret"] = [];
  let output:
    { readonly secrets: World["Secret"]; readonly kept: readonly Kept[]; readonly world: World } | undefined;

  /** The certificate that was in service for the earlier version of a Secret. */
  const certificateBefore = (before: Secret, after: Secret): TlsCertificate | undefined => {
    if (before.metadata.uid !== after.metadata.uid) return undefined;
    const known = kept.get(nameOf(before.metadata));
    if (known !== undefined) return known.certificate;
    if (!isTlsSecret(before) || !wasServed(before)) return undefined;
    const read = readTlsSecret(before);
    return read.ok ? read.value : undefined;
  };

  const follow = (secrets: World["Secret"]): void => {
    const { removed, added } = listChanges<Secret>(last, secrets);
    last = secrets;
    if (removed.length === 0) return;
    const bytes = bytesByNamespace(kept.values());
    const successors = new Map(added.map((secret) => [nameOf(secret.metadata), secret]));
    for (const before of removed) {
      const name = nameOf(before.metadata);
      const after = successors.get(name);
      const certificate = after && certificateBefore(before, after);
      const isKept = kept.delete(name);
      if (after === undefined || certificate === undefined || readTlsSecret(after).ok) continue;
      const { namespace } = after.metadata;
      const total = (bytes.get(namespace) ?? 0) + (isKept ? 0 : sizeOf(certificate));
      if (total > maxBytesOfNamespace) continue;
      bytes.set(namespace, total);
      kept.set(name, { unusable: after, withCertificate: withLastGood(after, certificate), certificate });
    }
  };

  return {
    keep(world, nowMs) {
      // The last build has read the certificates that any object names; others are no longer needed.
      for (const [name, { withCertificate }] of kept) if (!wasServed(withCertificate)) kept.delete(name);
      follow(world.Secret);
      for (const [name, { certificate }] of kept) if (certificate.notAfterMs < nowMs) kept.delete(name);
      if (kept.size === 0) {
        output = undefined;
        return world;
      }
      const present = [...kept.values()];
      if (output?.secrets !== world.Secret || !haveSameItems(output.kept, present)) {
        const changes = present.map(({ withCertificate: object }) => ({ type: "apply", object }) as const);
        output = { secrets: world.Secret, kept: present, world: updateWorld(world, changes) };
      }
      return { ...world, Secret: output.world.Secret };
    },
    get count() {
      return [...kept.values()].filter(({ withCertificate }) => wasServed(withCertificate)).length;
    },
  };
}

const sizeOf = ({ value: { chainPem, keyPem } }: TlsCertificate): number => chainPem.length + keyPem.length;

function bytesByNamespace(all: Iterable<Kept>): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const { unusable, certificate } of all) {
    const { namespace } = unusable.metadata;
    bytes.set(namespace, (bytes.get(namespace) ?? 0) + sizeOf(certificate));
  }
  return bytes;
}
