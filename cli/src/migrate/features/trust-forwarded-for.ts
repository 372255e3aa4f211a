/** Writes the peers that are trusted to report the client's address. */
import { noteIf, type FeatureWriter } from "../written.ts";

export const writeTrustForwardedFor: FeatureWriter<"trust-forwarded-for"> = ({
  header,
  trustedCidrs,
  trustsUrl,
  privateClients,
}) => ({
  annotations: {
    "trust-forwarded-for": "true",
    ...(header.toLowerCase() !== "x-forwarded-for" && { "forwarded-for-header": header }),
    ...(trustedCidrs !== undefined && { "forwarded-for-trusted-cidrs": trustedCidrs.join(",") }),
  },
  notes: [
    ...noteIf(
      trustsUrl !== undefined,
      "trust-forwarded-for.trustsUrl",
      "lost",
      "Only the scheme that a trusted peer forwards counts, not its host and port, and redirects to https do not look at it",
    ),
    ...noteIf(
      privateClients === true,
      "trust-forwarded-for.privateClients",
      "changed",
      "Private addresses in the list are those of proxies, never of a client",
    ),
  ],
});
