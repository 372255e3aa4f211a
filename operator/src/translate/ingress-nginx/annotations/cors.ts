/** Annotations about cross-origin requests. */
import { splitCsv } from "@svc-gateway/common/values/list.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { quote } from "../../text.ts";
import { booleanForm, integerForm, normalizeText, type Form } from "../values.ts";
import { declare } from "./declare.ts";

const corsRule = {
  bad: "I",
  scope: "location",
  own: ["cors-allow-origins"],
  served: "served",
  here: "As there.",
} as const;
/** The rule of a detail. Only `enable-cors` replaces the origins that are a default of the class. */
const detailRule = { ...corsRule, keepsClassDefaults: true } as const;

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
/** The origins of a list, and the items that are not origins. */
export type Origins = { readonly allowed: readonly string[]; readonly refused: readonly string[] };

const origin = /^(?:null|[a-z]+:\/\/(?:\*\.)?[A-Za-z0-9\-._]{1,253}(?::\d{1,5})?)$/;

/**
 * ingress-nginx omits items that are not origins, and permits every origin if the list as a whole is invalid.
 * Here the remaining items apply, even if there are none. `*` in a list permits every origin in both.
 */
const originsForm: Form<Origins> = {
  noun: "list of origins",
  parse(raw) {
    const items = splitCsv(raw);
    if (items.includes("*")) return ok({ allowed: ["*"], refused: [] });
    return ok({
      allowed: items.filter((item) => origin.test(item)),
      refused: items.filter((item) => !origin.test(item)),
    });
  },
};

export const corsAllowOrigin = declare({
  ...detailRule,
  name: "cors-allow-origin",
  form: originsForm,
  risk: "Medium",
  protective: true,
  builtIn: { allowed: ["*"], refused: [] },
  shownDefault: "`*`",
  meaning: "The origins that are permitted.",
  here: "As there, but a value that cannot be read permits no origin instead of every one, and the whole origin must match.",
});

/** A list that is sent as written, on one line. */
const sentForm = (noun: string, item: RegExp, expected: string): Form<string> => ({
  noun,
  parse(raw) {
    const text = normalizeText(raw).replaceAll(/\s+/g, " ");
    const items = text.split(/[\s,]+/).filter((one) => one !== "");
    return items.length > 0 && items.every((one) => item.test(one))
      ? ok(text)
      : problem(`${quote(text)} is not a ${noun}`, expected);
  },
});

const fieldName = /^[A-Za-z0-9_-]+$/;
const fieldNameOrAll = /^(?:\*|[A-Za-z0-9_-]+)$/;

export const corsAllowMethods = declare({
  ...detailRule,
  name: "cors-allow-methods",
  form: sentForm("list of methods", /^[A-Za-z]+$/, "methods with commas"),
  risk: "Medium",
  builtIn: "GET, PUT, POST, DELETE, PATCH, OPTIONS",
  shownDefault: "`GET, PUT, POST, DELETE, PATCH, OPTIONS`",
  meaning: "The methods that are permitted.",
});
export const corsAllowHeaders = declare({
  ...detailRule,
  name: "cors-allow-headers",
  form: sentForm("list of header names", fieldName, "header names with commas"),
  risk: "Medium",
  builtIn:
    "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization",
  shownDefault:
    "`DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization`",
  meaning: "The request headers that are permitted.",
});
export const corsAllowCredentials = declare({
  ...detailRule,
  name: "cors-allow-credentials",
  form: booleanForm,
  risk: "Low",
  builtIn: true,
  shownDefault: "true",
  meaning: "Whether credentials are permitted.",
});
export const corsExposeHeaders = declare({
  ...detailRule,
  name: "cors-expose-headers",
  form: sentForm("list of header names", fieldNameOrAll, "header names with commas, or *"),
  risk: "Medium",
  shownDefault: "none",
  meaning: "The response headers that pages may read.",
});
export const corsMaxAge = declare({
  ...detailRule,
  name: "cors-max-age",
  form: integerForm(),
  risk: "Low",
  builtIn: 1_728_000,
  shownDefault: "1728000",
  meaning: "How many seconds a preflight may be remembered.",
});
