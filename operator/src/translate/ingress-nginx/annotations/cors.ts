/** Annotations about cross-origin requests. */
import { booleanForm, integerForm, listForm } from "../values.ts";
import { declare } from "./declare.ts";

const corsRule = { bad: "I", scope: "location", served: "not-yet", here: "As there." } as const;

export const enableCors = declare({
  ...corsRule,
  name: "enable-cors",
  form: booleanForm,
  risk: "Low",
  builtIn: false,
  shownDefault: "false",
  meaning: "Whether responses permit cross-origin requests, and preflights are answered.",
  isNeutral: (value) => !value,
});
export const corsAllowOrigin = declare({
  ...corsRule,
  name: "cors-allow-origin",
  form: listForm(
    "list of origins",
    /^(?:\*|null|[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:\*\.)?[A-Za-z0-9\-._]+(?::\d{1,5})?)$/,
    'origins with commas, such as "https://app.example.com, https://*.example.com"',
  ),
  risk: "Medium",
  protective: true,
  builtIn: ["*"],
  shownDefault: "`*`",
  meaning: "The origins that are permitted.",
  here: "As there, but a value that cannot be read permits no origin instead of every one.",
});
const names = listForm("list", /^[A-Za-z0-9\-_*!#$%&'+.^`|~]+$/, "names with commas");
export const corsAllowMethods = declare({
  ...corsRule,
  name: "cors-allow-methods",
  form: names,
  risk: "Medium",
  builtIn: ["GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"],
  shownDefault: "`GET, PUT, POST, DELETE, PATCH, OPTIONS`",
  meaning: "The methods that are permitted.",
});
export const corsAllowHeaders = declare({
  ...corsRule,
  name: "cors-allow-headers",
  form: names,
  risk: "Medium",
  builtIn:
    "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization".split(
      ",",
    ),
  shownDefault:
    "`DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization`",
  meaning: "The request headers that are permitted.",
});
export const corsAllowCredentials = declare({
  ...corsRule,
  name: "cors-allow-credentials",
  form: booleanForm,
  risk: "Low",
  builtIn: true,
  shownDefault: "true",
  meaning: "Whether credentials are permitted.",
});
export const corsExposeHeaders = declare({
  ...corsRule,
  name: "cors-expose-headers",
  form: names,
  risk: "Medium",
  shownDefault: "none",
  meaning: "The response headers that pages may read.",
});
export const corsMaxAge = declare({
  ...corsRule,
  name: "cors-max-age",
  form: integerForm(),
  risk: "Low",
  builtIn: 1_728_000,
  shownDefault: "1728000",
  meaning: "How many seconds a preflight may be remembered.",
});
