const block = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]+?)-----END \1-----/g;

/** Returns the blocks with one of the labels, decoded, in their order (RFC 7468). Text around the blocks is ignored. */
export function pemBlocks(text: string, ...labels: readonly string[]): readonly Buffer[] {
  return Array.from(text.matchAll(block)).flatMap(([, label = "", body = ""]) =>
    labels.includes(label) ? [Buffer.from(body, "base64")] : [],
  );
}

/** Writes one block with lines of 64 characters (RFC 7468 section 2). */
export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
