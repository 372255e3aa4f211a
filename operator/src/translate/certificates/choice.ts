import { compareText } from "../age.ts";
import type { TlsCertificate } from "./tls-secret.ts";

/**
 * Which of two certificates for one name is offered first: ECDSA before others, because it is cheaper to serve; then the
 * one that is valid longest.
 */
export function compareChoice(a: TlsCertificate, b: TlsCertificate): number {
  const byType = Number(b.keyType === "ecdsa") - Number(a.keyType === "ecdsa");
  return byType || b.notAfterMs - a.notAfterMs || compareText(a.id, b.id);
}
