/** Annotations that limit the requests of a client. */
import { integerForm, rangesForm } from "../values.ts";
import { declare } from "./declare.ts";

const limit = (name: string, meaning: string, own: readonly string[]) =>
  declare({
    name,
    form: integerForm(),
    bad: "X",
    risk: "Low",
    scope: "location",
    protective: true,
    builtIn: 0,
    shownDefault: "0, no limit",
    own,
    served: "served",
    meaning,
    here: "As there.",
    isNeutral: (value) => value === 0,
  });

export const limitRps = limit("limit-rps", "The requests of a client in a second, 503 above it.", [
  "rate-limit",
]);
export const limitRpm = limit("limit-rpm", "The requests of a client in a minute, 503 above it.", [
  "rate-limit",
]);
export const limitConnections = limit(
  "limit-connections",
  "The requests of a client that may be in progress, 503 above it.",
  [],
);

export const limitBurstMultiplier = declare({
  name: "limit-burst-multiplier",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 5,
  shownDefault: "5",
  served: "served",
  meaning: "How many times the limit may be exceeded at once.",
  here: "As there.",
});

export const limitAllowlist = declare({
  name: "limit-allowlist",
  form: rangesForm,
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "The addresses of clients that no limit holds for.",
  here: "As there.",
});

export const limitWhitelist = declare({
  name: "limit-whitelist",
  form: rangesForm,
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "none",
  aliasOf: "limit-allowlist",
  served: "served",
  meaning: "The older name of `limit-allowlist`, which wins unless it is empty.",
  here: "As there.",
});
