/** Annotations about addresses of clients. */
import { rangesForm } from "../values.ts";
import { declare } from "./declare.ts";

const shared = {
  form: rangesForm,
  bad: "D",
  empty: "D",
  risk: "Medium",
  scope: "location",
  protective: true,
  own: ["ip-access-control"],
  served: "served",
  here: "As there.",
} as const;

export const allowlistSourceRange = declare({
  ...shared,
  name: "allowlist-source-range",
  shownDefault: "of the ConfigMap",
  configKey: "whitelist-source-range",
  meaning: "The addresses of clients that are let in; other ones get 403.",
});

export const whitelistSourceRange = declare({
  ...shared,
  name: "whitelist-source-range",
  shownDefault: "of the ConfigMap",
  aliasOf: "allowlist-source-range",
  meaning: "The older name of `allowlist-source-range`, which wins unless it is empty.",
});

export const denylistSourceRange = declare({
  ...shared,
  name: "denylist-source-range",
  shownDefault: "of the ConfigMap",
  configKey: "denylist-source-range",
  meaning: "The addresses of clients that get 403, whichever list else has them.",
});
