import { X509Certificate } from "node:crypto";
import { toPem } from "./pem.ts";

/** A root that no longer signs and is still trusted, because certificates that it signed are in use. */
export type RetiredRoot = { readonly certificatePem: string; readonly until: number };

/** The largest number of retired roots, a protection against hostile content: a root is replaced once in years. */
const maxRetiredRoots = 8;
const maxTextLength = 64 * 1024;

const entry =
  /^# trusted until ([0-9TZ:.-]+)\n(-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----)/gm;

/**
 * Writes retired roots as PEM, each after a comment with its end. PEM readers skip the comment, so the text is a trust
 * bundle.
 */
export const formatRetiredRoots = (roots: readonly RetiredRoot[]): string =>
  roots
    .map(({ certificatePem, until }) => `# trusted until ${new Date(until).toISOString()}\n${certificatePem}`)
    .join("");

/** Reads the output of `formatRetiredRoots`. Entries in any other form are omitted. */
export function parseRetiredRoots(text: string): readonly RetiredRoot[] {
  if (text.length > maxTextLength) return [];
  return Array.from(text.matchAll(entry)).flatMap(([, time = "", pem = ""]) => {
    const until = Date.parse(time);
    const certificatePem = normalised(pem);
    return Number.isNaN(until) || certificatePem === undefined ? [] : [{ certificatePem, until }];
  });
}

/**
 * Returns the retired roots at a moment: the known ones without those whose time is over, and never the signing root. A
 * retired root keeps its earliest end.
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
