/** Writes the peers that are trusted to report the client's address. */
import { noteIf, type FeatureWriter } from "../written.ts";

/**
 * Whether a list contains every IPv4 address. It is not written: a client whose address is in the list would count as a
 * proxy, and the peer as the client.
 */
const isEveryPeer = (cidrs: readonly string[] | undefined): boolean => cidrs?.includes("0.0.0.0/0") === true;

export const writeTrustForwardedFor: FeatureWriter<"trust-forwarded-for"> = ({
  header,
  trustedCidrs,
  trustsUrl,
  privateClients,
}) => ({
  annotations: {
    "trust-forwarded-for": "true",
    ...(header.toLowerCase() !== "x-forwarded-for" && { "forwarded-for-header": header }),
    ...(trustedCidrs !== undefined &&
      !isEveryPeer(trustedCidrs) && { "forwarded-for-trusted-cidrs": trustedCidrs.join(",") }),
  },
  notes: [
    ...noteIf(
      trustsUrl !== undefined,
      "trust-forwarded-for.trustsUrl",
      "lost",
      "Only the scheme that a trusted peer forwards counts, not its host and port, and redirects to https do not look at it",
    ),
    ...noteIf(
      isEveryPeer(trustedCidrs),
      "trust-forwarded-for.trustedCidrs",
      "changed",
      "Every peer is trusted, and the client is the last public address of the list, not the first address",
    ),
    ...noteIf(
      privateClients === true,
      "trust-forwarded-for.privateClients",
      "changed",
      "Private addresses in the list are those of proxies, never of a client",
    ),
  ],
});
