import type { ServedName } from "../tls/certificate-store.ts";
import type { ProxyMetrics } from "./metrics.ts";

const buckets = ["exact", "wildcard", "default"] as const;

/** Sets the certificate gauges: the number of names per bucket, and the seconds until each certificate expires. */
export function reportCertificates(metrics: ProxyMetrics, names: readonly ServedName[]): void {
  for (const bucket of buckets) {
    const loaded = new Set(names.filter((each) => each.bucket === bucket).map(({ name }) => name));
    metrics.tlsCertsLoaded.with({ bucket }).set(loaded.size);
  }
  const nowMs = Date.now();
  const present = new Set(names.map(({ name }) => name));
  metrics.tlsCertExpiry.remove(({ sni }) => !present.has(sni));
  for (const { name, notAfterMs } of names) {
    metrics.tlsCertExpiry.with({ sni: name }).set(Math.round((notAfterMs - nowMs) / 1000));
  }
}
