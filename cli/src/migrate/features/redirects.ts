/** Writes redirects, to https and to other URLs. */
import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import { noteIf, type FeatureWriter, type Note } from "../written.ts";

export const writeSslRedirect: FeatureWriter<"ssl-redirect"> = (
  { statusCode, cutSlash, early },
  { route },
) => {
  if (route.features?.redirect !== undefined) {
    return {
      notes: [
        {
          property: "features.ssl-redirect",
          loss: "changed",
          text: "The other redirect of the path also applies to requests without TLS, which skip the step to https",
        },
      ],
    };
  }
  return {
    annotations: {
      "ssl-redirect": "true",
      ...(statusCode !== 308 && { "ssl-redirect-code": String(statusCode) }),
    },
    notes: [
      ...noteIf(
        cutSlash === true,
        "ssl-redirect.cutSlash",
        "changed",
        "The redirect to https keeps a slash at the end of the URL, which ingress-nginx leaves out",
      ),
      ...noteIf(
        early === true,
        "ssl-redirect.early",
        "changed",
        "The redirect to https comes after address rules and rate limits instead of before them",
      ),
      ...noteIf(
        true,
        "ssl-redirect.port",
        "changed",
        "The redirect to https names the public port of the listener, where that is not 443",
      ),
    ],
  };
};

export const writeRedirect: FeatureWriter<"redirect"> = (value) => {
  const { url, scheme, hostname, port, path, statusCode } = value;
  const status = statusCode === 302 ? {} : { "redirect-status-code": String(statusCode) };
  const notes = notesOf(value);
  if (![301, 302, 307, 308].includes(statusCode)) {
    return lostRedirect(`The status ${statusCode} cannot be given, expected 301, 302, 307 or 308`);
  }
  if (typeof url === "string") return { annotations: { "redirect-url": url, ...status }, notes };
  if (url !== undefined) return lostRedirect("A URL that each request fills in cannot be written");
  if (path !== undefined && path.type !== "full") {
    return lostRedirect("A redirect that replaces the beginning of the path cannot be written");
  }
  return {
    annotations: {
      ...(scheme !== undefined && { "redirect-scheme": scheme }),
      ...(hostname !== undefined && { "redirect-hostname": hostname }),
      ...(port !== undefined && { "redirect-port": String(port) }),
      ...(path !== undefined && { "redirect-path": path.value }),
      ...status,
    },
    notes,
  };
};

const lostRedirect = (text: string): ReturnType<FeatureWriter<"redirect">> => ({
  // Requests that were never sent to the backend must not be sent to it afterwards.
  notes: [{ property: "features.redirect", loss: "lost", text, closes: true }],
});

const notesOf = ({ early, origin, query, cutSlash }: Redirect): readonly Note[] => [
  ...noteIf(
    early === true,
    "redirect.early",
    "changed",
    "The redirect comes after address rules, limits and authentication instead of before them",
  ),
  ...noteIf(
    origin !== undefined,
    "redirect.origin",
    "changed",
    "The redirect is to the host without the port that the client sent",
  ),
  ...noteIf(query !== undefined, "redirect.query", "changed", "The redirect keeps the query of the request"),
  ...noteIf(
    cutSlash === true,
    "redirect.cutSlash",
    "changed",
    "The redirect keeps a slash at the end of the URL, which ingress-nginx leaves out",
  ),
];
