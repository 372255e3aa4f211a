/** Annotations about the choice of endpoints, and about sessions. */
import {
  anyTextForm,
  basicCharacters,
  booleanForm,
  integerForm,
  secondsForm,
  textForm,
  urlCharacters,
  wordForm,
} from "../values.ts";
import { declare } from "./declare.ts";

export const loadBalance = declare({
  name: "load-balance",
  form: wordForm([
    "round_robin",
    "ewma",
    "chash",
    "chashsubset",
    "sticky_balanced",
    "sticky_persistent",
    "ip_hash",
    "least_conn",
  ]),
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "`round_robin`",
  configKey: "load-balance",
  served: "served",
  meaning: "The algorithm that chooses endpoints.",
  here: "As there; `ip_hash` and `least_conn`, which it no longer loads, are served; the other values set no algorithm, as there.",
  isNeutral: (value) => value === "round_robin",
});

export const upstreamHashBy = declare({
  name: "upstream-hash-by",
  form: anyTextForm("text with variables"),
  bad: "X",
  risk: "High",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "The key by whose hash endpoints are chosen.",
  here: "As there, for the paths of the Ingress instead of the Service port. An unknown variable leaves it out.",
});

export const upstreamHashBySubset = declare({
  name: "upstream-hash-by-subset",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  served: "served",
  meaning: "Whether the hash chooses a group of endpoints instead of one.",
  here: "Each key has a group of its own, instead of one of a fixed number of groups.",
  isNeutral: (value) => !value,
});

export const upstreamHashBySubsetSize = declare({
  name: "upstream-hash-by-subset-size",
  form: integerForm(),
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: 3,
  shownDefault: "3",
  served: "served",
  meaning: "The endpoints of such a group; 0 counts as 3.",
  here: "As there.",
  isNeutral: (value) => value === 0 || value === 3,
});

export const affinity = declare({
  name: "affinity",
  form: wordForm(["cookie"]),
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "Whether a cookie keeps sessions at one endpoint.",
  here: "As there.",
});

export const affinityMode = declare({
  name: "affinity-mode",
  form: wordForm(["balanced", "persistent"]),
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "balanced",
  shownDefault: "`balanced`",
  served: "served",
  meaning: "Whether sessions move to new endpoints.",
  here: "Sessions stay while their endpoint exists, with either value.",
});

export const affinityCanaryBehavior = declare({
  name: "affinity-canary-behavior",
  form: wordForm(["sticky", "legacy"]),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: "sticky",
  shownDefault: "`sticky`",
  served: "served",
  meaning: "Whether sessions stay with the canary, or with what it is a canary of.",
  here: "As there.",
});

const cookie = {
  bad: "I",
  risk: "Medium",
  scope: "location",
  served: "served",
  here: "As there.",
} as const;

export const sessionCookieName = declare({
  ...cookie,
  name: "session-cookie-name",
  form: textForm("name of a cookie", /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/, "the name of a cookie"),
  builtIn: "INGRESSCOOKIE",
  shownDefault: "`INGRESSCOOKIE`",
  meaning: "The name of the cookie.",
});
export const sessionCookiePath = declare({
  ...cookie,
  name: "session-cookie-path",
  form: textForm("path", new RegExp(`^[${urlCharacters}]+$`), "a path of letters, digits and -._~/:?&="),
  shownDefault: "the path of the Ingress",
  meaning: "The `Path` of the cookie.",
});
export const sessionCookieDomain = declare({
  ...cookie,
  name: "session-cookie-domain",
  form: textForm("host", new RegExp(`^[${basicCharacters}]+$`), "a host name"),
  shownDefault: "none",
  meaning: "The `Domain` of the cookie.",
});
export const sessionCookieExpires = declare({
  ...cookie,
  name: "session-cookie-expires",
  form: secondsForm,
  shownDefault: "none",
  meaning: "The seconds until the `Expires` of the cookie.",
});
export const sessionCookieMaxAge = declare({
  ...cookie,
  name: "session-cookie-max-age",
  form: secondsForm,
  shownDefault: "none",
  meaning: "The `Max-Age` of the cookie in seconds.",
});
export const sessionCookieSamesite = declare({
  ...cookie,
  name: "session-cookie-samesite",
  form: wordForm(["None", "Lax", "Strict", "none", "lax", "strict", "NONE", "LAX", "STRICT"]),
  risk: "Low",
  shownDefault: "none",
  meaning: "The `SameSite` of the cookie; only `None`, `Lax` and `Strict` are sent.",
});

const cookieSwitch = (name: string, shownDefault: string, meaning: string) =>
  declare({
    ...cookie,
    name: `session-cookie-${name}`,
    form: booleanForm,
    risk: "Low",
    shownDefault,
    meaning,
    isNeutral: (value) => !value,
  });

export const sessionCookieSecure = cookieSwitch(
  "secure",
  "true over TLS",
  "Whether the cookie is `Secure` without TLS as well; `false` counts as absent.",
);
export const sessionCookieConditionalSamesiteNone = cookieSwitch(
  "conditional-samesite-none",
  "false",
  "Whether `SameSite=None` is left out for browsers that misread it.",
);
export const sessionCookieChangeOnFailure = cookieSwitch(
  "change-on-failure",
  "false",
  "Whether a session moves to another endpoint when its own fails.",
);
