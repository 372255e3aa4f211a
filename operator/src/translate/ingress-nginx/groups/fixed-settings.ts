/** Settings that are the same for all Ingresses here: ciphers, the largest head of a response, tracing. */
import type { Place } from "../../diagnostics/define-finding.ts";
import {
  ciphersFixed,
  headLimit,
  noCommonCipher,
  tracingUnsupported,
} from "../../diagnostics/ingress-nginx.ts";
import { quote } from "../../text.ts";
import { proxyBufferSize } from "../annotations/forwarding.ts";
import { sslCiphers } from "../annotations/hosts.ts";
import { enableOpentelemetry } from "../annotations/responses.ts";
import type { Group } from "./group.ts";

/** The largest head of a response that proxies accept. */
const maxHeadBytes = 64 * 1024;

export const fixedSettings: Group = (read, { report }) => {
  const ciphers = read.sourceOf(sslCiphers) === "annotation" ? read(sslCiphers) : undefined;
  if (ciphers !== undefined) {
    const finding = (place: Place) =>
      allowsOurs(ciphers)
        ? ciphersFixed(place, "ssl-ciphers has no effect: the ciphers are ECDHE with AES-GCM or ChaCha20")
        : noCommonCipher(place, quote(ciphers));
    report(sslCiphers, finding);
  }
  if ((read(proxyBufferSize) ?? 0) > maxHeadBytes) report(proxyBufferSize, headLimit);
  if (read(enableOpentelemetry) === true) report(enableOpentelemetry, tracingUnsupported);
  return {};
};

/** Words of an OpenSSL cipher list for families of ciphers to which offered ones belong. */
const families = new Set([
  "ALL",
  "AESGCM",
  "CHACHA20",
  "DEFAULT",
  "ECDHE",
  "EECDH",
  "HIGH",
  "COMPLEMENTOFDEFAULT",
]);

/**
 * Whether a client that is limited to the list can still connect: it contains one of the offered ciphers, or a
 * family of them. Exclusions in the list are ignored.
 */
function allowsOurs(list: string): boolean {
  const words = list.split(/[:, ]+/).filter((word) => word !== "" && !/^[!-]/.test(word));
  return words.some(
    (word) =>
      /^TLS_|^ECDHE-(?:ECDSA|RSA)-(?:AES(?:128|256)-GCM|CHACHA20)/.test(word) ||
      word
        .split("+")
        .every(
          (part) => families.has(part.replace(/^k/, "")) || part === "" || /^a?(?:RSA|ECDSA)$/.test(part),
        ) ||
      word.startsWith("@"),
  );
}
