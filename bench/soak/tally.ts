/** Counts the results that clients of the soak observe. */
export class Tally {
  private readonly counts = new Map<string, number>();
  private readonly errors = new Map<string, number>();

  done(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** Counts an error that no client should see while routes change and backends restart in order. */
  failed(kind: string, what: string): void {
    const text = `${kind}: ${what}`;
    if (this.errors.size < 1000 || this.errors.has(text)) {
      this.errors.set(text, (this.errors.get(text) ?? 0) + 1);
    }
  }

  get failures(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The counts, such as `downloads 12, http1 400`. */
  get summary(): string {
    const sorted = [...this.counts].sort(([a], [b]) => a.localeCompare(b));
    return sorted.map(([kind, count]) => `${kind} ${count}`).join(", ");
  }

  /** The most frequent errors, each with its count. */
  get worst(): readonly string[] {
    const sorted = [...this.errors].sort(([, a], [, b]) => b - a);
    return sorted.slice(0, 20).map(([text, count]) => `${count} x ${text}`);
  }
}
