/** Annotations of canaries: Ingresses that receive a part of the requests of another Ingress. */
import { anyTextForm, booleanForm, integerForm, textForm } from "../values.ts";
import { declare } from "./declare.ts";

const canaryRule = {
  bad: "I",
  scope: "location",
  served: "served",
  here: "As there, for the same host, path and path type in the same namespace.",
} as const;

export const canary = declare({
  ...canaryRule,
  name: "canary",
  own: ["canary"],
  form: booleanForm,
  risk: "Low",
  builtIn: false,
  shownDefault: "false",
  meaning: "Whether the Ingress takes a part of the requests of another one, and serves nothing else.",
  isNeutral: (value) => !value,
});
export const canaryWeight = declare({
  ...canaryRule,
  name: "canary-weight",
  own: ["canary-weight"],
  form: integerForm(),
  risk: "Low",
  builtIn: 0,
  shownDefault: "0",
  meaning: "The share of requests that it gets.",
  isNeutral: (value) => value === 0,
});
export const canaryWeightTotal = declare({
  ...canaryRule,
  name: "canary-weight-total",
  own: ["canary-weight-total"],
  form: integerForm(),
  risk: "Low",
  builtIn: 100,
  shownDefault: "100",
  meaning: "What `canary-weight` is a share of, above 100.",
  isNeutral: (value) => value <= 100,
});
export const canaryByHeader = declare({
  ...canaryRule,
  name: "canary-by-header",
  own: ["canary-by-header"],
  form: textForm("name of a header", /^[A-Za-z0-9\-_]+$/, "the name of a header"),
  risk: "Medium",
  shownDefault: "none",
  meaning: "The header whose value `always` or `never` decides.",
});
export const canaryByHeaderValue = declare({
  ...canaryRule,
  name: "canary-by-header-value",
  own: ["canary-by-header-value"],
  form: anyTextForm("text"),
  risk: "Medium",
  shownDefault: "none",
  meaning: "The value of that header that decides for the canary.",
});
export const canaryByHeaderPattern = declare({
  ...canaryRule,
  name: "canary-by-header-pattern",
  own: ["canary-by-header-pattern"],
  form: anyTextForm("regular expression"),
  risk: "Medium",
  shownDefault: "none",
  meaning: "A regular expression for that value.",
});
export const canaryByCookie = declare({
  ...canaryRule,
  name: "canary-by-cookie",
  own: ["canary-by-cookie"],
  form: textForm("name of a cookie", /^[A-Za-z0-9\-._~]+$/, "the name of a cookie"),
  risk: "Medium",
  shownDefault: "none",
  meaning: "The cookie whose value `always` or `never` decides.",
});
