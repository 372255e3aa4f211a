import { X509Certificate } from "node:crypto";
import { toPem } from "./pem.ts";

/** A root that no longer signs and is still trusted, because certificates that it signed are in use. */
export type RetiredRoot = { readonly certificatePem: string; readonly until: number };

/** Certificates of hostile size or number are not kept: a root is replaced once in years. */
const maxRetiredRoots = 8;
const maxTextLength = 64 * 1024;

const entry =
  /^# trusted until ([0-9TZ:.-]+)\n(-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----)/gm;

/**
 * Writes retired roots as PEM, each below a comment with its end. PEM readers skip the comment, so the text is a trust
 * bundle.
 */
export const formatRetiredRoots = (roots: readonly RetiredRoot[]): string =>
  roots
    .map(({ certificatePem, until }) => `# trusted until ${new Date(until).toISOString()}\n${certificatePem}`)
    .join("");

/** Reads what `formatRetiredRoots` wrote. What has another form is left out. */
export function parseRetiredRoots(text: string): readonly RetiredRoot[] {
  if (text.length > maxTextLength) return [];
  return Array.from(text.matchAll(entry)).flatMap(([, time = "", pem = ""]) => {
    const until = Date.parse(time);
    const certificatePem = normalised(pem);
    return Number.isNaN(until) || certificatePem === undefined ? [] : [{ certificatePem, until }];
  });
}

/**
 * The retired roots at a moment: those that were known, the one that has just been replaced, none whose time is over,
 * and never the root that signs. A root that is retired keeps the end that it got first.
 */
export function retiredRootsAt(
  nowMs: number,
  currentRootPem: string,
  known: readonly RetiredRoot[],
): readonly RetiredRoot[] {
  const byPem = new Map<string, number>();
  for (const { certificatePem, until } of known) {
    if (certificatePem === currentRootPem || until <= nowMs) continue;
    byPem.set(certificatePem, Math.min(until, byPem.get(certificatePem) ?? until));
  }
  return Array.from(byPem, ([certificatePem, until]) => ({ certificatePem, until }))
    .sort((a, b) => b.until - a.until)
    .slice(0, maxRetiredRoots);
}

function normalised(pem: string): string | undefined {
  try {
    return toPem("CERTIFICATE", new X509Certificate(pem).raw);
  } catch {
    return undefined;
  }
}
