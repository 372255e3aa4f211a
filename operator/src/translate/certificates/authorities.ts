/** Bundles of certificate authorities. */
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { maxSecretValueBytes, readSecretValue } from "../../api/secret-value.ts";
import { memo } from "../incremental/memo.ts";
import { readPemCertificates } from "./chain.ts";

/** The key of certificate authorities in a Secret or ConfigMap. */
export const bundleKey = "ca.crt";
/** The label, with the value `true`, by which the owner of a Secret of type Opaque permits its use. */
export const authorityLabel = "ingress.svc-labs.dev/auth-tls";
/** The maximum number of authorities, about twice as many as browsers and systems ship. */
const maxAuthorities = 512;

/**
 * Reads the authorities of a Secret of type `Opaque` that its owner has labelled for this use: all certificates
 * in `ca.crt`, as PEM. The error is the reason why the Secret cannot be used.
 */
export const readClientAuthorities = memo((secret: ObjectOf<"Secret">): Result<string> => {
  const { type = "Opaque", metadata } = secret;
  if (type !== "Opaque") return problem("is not of type Opaque");
  if (!hasLabel(metadata)) return problem(`has no label ${authorityLabel}: "true"`);
  const bundle = readSecretValue(secret, bundleKey);
  return bundle.ok ? readBundle(bundle.value?.toString("latin1") ?? "", bundleKey) : bundle;
});

/**
 * The end of a message about a Secret that was not found: Secrets without the label are not read, so it can exist.
 */
export const orHasNoAuthorityLabel = ` or does not have the label ${authorityLabel}: "true"`;

const hasLabel = ({ labels }: ObjectOf<"Secret">["metadata"]): boolean => labels?.[authorityLabel] === "true";

/** Whether a Secret is of type `Opaque`, with the label of its owner. */
export const isForAuthorities = ({ type = "Opaque", metadata }: ObjectOf<"Secret">): boolean =>
  type === "Opaque" && hasLabel(metadata);

/** The key of a list of revoked certificates, which is not supported. */
export const revocationKey = "ca.crl";

/**
 * The message about an unknown Secret without a required label. A controller reads no Secrets of other types,
 * so it can exist.
 */
export const unknownPlainSecret = (named: string): string =>
  `${named} does not exist or is not of type Opaque or kubernetes.io/tls`;

/**
 * Reads the authorities of any Secret, for Ingresses of ingress-nginx. The error is the reason why it cannot be
 * used.
 */
export const readPlainAuthorities = memo((secret: ObjectOf<"Secret">): Result<string> => {
  const bundle = readSecretValue(secret, bundleKey);
  if (!bundle.ok) return bundle;
  return bundle.value === undefined
    ? problem(`has no key ${bundleKey}`)
    : readBundle(bundle.value.toString("latin1"), bundleKey);
});

/**
 * Reads the certificates of a PEM text, without duplicates and other text. A certificate that cannot be parsed
 * makes the whole text unusable. So does a text from any source that is longer than a Secret may be: many
 * objects can name one bundle, and each has a copy in the snapshot. `key` is for messages.
 */
export function readBundle(pem: string, key: string): Result<string> {
  if (pem.length > maxSecretValueBytes) {
    return problem(`${key} is longer than ${maxSecretValueBytes / 1024} KiB`);
  }
  const certificates = readPemCertificates(pem, key, maxAuthorities);
  if (!certificates.ok) return certificates;
  return ok([...new Set(certificates.value.map((certificate) => certificate.toString()))].join(""));
}
