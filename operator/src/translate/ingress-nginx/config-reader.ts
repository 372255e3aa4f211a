/** Reads ingress-nginx's ConfigMap, and the same keys in the parameters of a class. See docs/ingress-nginx.md. */
import { parseHeaderFields, type HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  literalOf,
  parseRequestTemplate,
  type RequestTemplate,
} from "@svc-gateway/common/features/request-template.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Problem } from "@svc-gateway/common/values/result.ts";
import { didYouMean } from "@svc-gateway/common/values/similar.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import type { Lookup } from "../../world.ts";
import { describeProblem, keyField, type Place } from "../diagnostics/define-finding.ts";
import {
  configKeyIgnored,
  configMapNotFound,
  protectionRefused,
  riskyConfig,
  snippetIgnored,
} from "../diagnostics/ingress-nginx.ts";
import type { Diagnostic } from "../finding.ts";
import type { View } from "../incremental/view.ts";
import type { TranslateSettings } from "../settings.ts";
import { quote } from "../text.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import { builtInConfig, type NginxConfig } from "./config.ts";
import { configKeyNames, configKeyOf } from "./config-keys.ts";
import { blocksRequests } from "./snippets/modsecurity.ts";
import { textOfWireForm } from "./config-map-fields.ts";
import { readSnippet } from "./snippets/read.ts";
import { optionsOf } from "./statics.ts";
import { readValue } from "./value.ts";

type ConfigSettings = Pick<TranslateSettings, "classParametersStrict" | "ingressNginx">;

type Entry = { readonly key: string; readonly raw: string; readonly place: Place };

/** Reads the settings of the ConfigMap that the flags name, overridden by those in the parameters of a class. */
export function readNginxConfig(
  { ingressNginx: { configMap }, classParametersStrict }: ConfigSettings,
  parameters: ObjectOf<"SvcIngressClassParameters"> | undefined,
  { lookup }: Pick<View, "lookup">,
): NginxConfig {
  const entries: Entry[] = [];
  const reader = new ConfigReader(lookup);
  if (configMap !== undefined) {
    const { namespace, name } = configMap;
    const object = { kind: "ConfigMap", namespace, name };
    const found = lookup("ConfigMap", namespace, name);
    if (found === undefined)
      reader.missing({ object }, formatNamespacedName(configMap), classParametersStrict);
    for (const [key, raw] of Object.entries(found?.data ?? {})) {
      entries.push({ key, raw, place: { object, field: keyField("data", key) } });
    }
  }
  const ofClass = parameters?.spec.nginxConfig ?? {};
  for (const [key, raw] of Object.entries(ofClass)) {
    if (parameters === undefined) break;
    entries.push({
      key,
      raw,
      place: { object: refOf(parameters), field: keyField("spec.nginxConfig", key) },
    });
  }
  // The last entry for a key wins, unless it is empty, which counts as absent.
  const byKey = new Map<string, Entry>();
  for (const entry of entries) if (!isEmpty(entry) || !byKey.has(entry.key)) byKey.set(entry.key, entry);
  for (const entry of byKey.values()) reader.read(entry);
  return reader.finish();
}

const isEmpty = ({ raw }: Entry): boolean => raw.trim() === "";

/** Collects the effects of the keys. */
class ConfigReader {
  private keys = builtInConfig.keys;
  private readonly defaults = new Map<string, unknown>();
  private readonly diagnostics: Diagnostic[] = [];
  private readonly lookup: Lookup;
  private readonly places = new Map<string, Place>();
  private readonly fieldsOfPath: HeaderField[] = [];
  private closes: string | undefined;
  private unprotected: string | undefined;

  constructor(lookup: Lookup) {
    this.lookup = lookup;
  }

  missing(place: Place, named: string, isStrict: boolean): void {
    const consequence = isStrict ? "every request to the class is answered 503" : "built-in settings apply";
    this.diagnostics.push(configMapNotFound(place, `ConfigMap ${named} does not exist; ${consequence}`));
    if (isStrict) this.closes = `ConfigMap ${named} does not exist`;
  }

  read(entry: Entry): void {
    const { key, raw, place } = entry;
    this.places.set(key, place);
    const known = configKeyOf(key);
    if (known === undefined) {
      const hint = didYouMean(key, configKeyNames);
      this.ignored(place, `${quote(key)} is not a key that is known here${hint}; it has no effect`);
      return;
    }
    if (isEmpty(entry)) return;
    switch (known.type) {
      case "default":
        return this.readDefault(known.annotation, entry);
      case "setting": {
        const value = known.read(raw);
        if (value.ok) this.keys = { ...this.keys, ...value.value };
        else this.invalid(entry, value.error, known.protective === true);
        return;
      }
      case "needless":
        if (known.unless !== undefined && !known.unless.test(raw.trim())) {
          this.ignored(place, `${key}: ${known.say ?? "it has no effect"}`);
        }
        return;
      case "refused":
        if (known.severity === "warning") this.ignored(place, `${key}: ${known.say}`);
        else this.cannotProtect(place, `${key}: ${known.say}`);
        return;
      case "snippet":
        return this.readSnippet(entry);
    }
  }

  private readDefault(annotation: NginxAnnotation, entry: Entry): void {
    const { key, raw, place } = entry;
    const value = readValue(annotation, raw);
    if (value === undefined) return;
    if (!value.ok) return this.invalid(entry, value.error, annotation.protective === true);
    const isMissing = annotation.served === "not-yet" || annotation.served === "refused";
    const isWanted = annotation.isNeutral?.(value.value) !== true;
    if (isMissing && isWanted && annotation.protective === true) {
      return this.cannotProtect(place, `${key}: ${annotation.here.replace(/\.$/, "")}`);
    }
    if (isMissing && isWanted) this.ignored(place, `${key}: ${annotation.here}`);
    this.defaults.set(annotation.name, value.value);
  }

  private readSnippet({ key, raw, place }: Entry): void {
    if (key === "modsecurity-snippet") {
      if (blocksRequests(raw))
        this.cannotProtect(place, `${key}: its rules block requests, and there is no ModSecurity`);
      else this.ignored(place, `${key}: there is no ModSecurity to inspect requests; its rules only detect`);
      return;
    }
    const { statementsFor, problem } = readSnippet(raw);
    const statements = statementsFor();
    const protective = statements.find(({ kind }) => kind === "protective");
    if (protective !== undefined || problem?.isProtective === true) {
      const what =
        protective === undefined ? problem?.message : `line ${protective.line}: ${protective.text}`;
      this.cannotProtect(place, `${key}: ${what} is not executed, although it protects`);
    } else {
      this.diagnostics.push(snippetIgnored(place, key, "nginx configuration is never executed", "error"));
    }
  }

  private invalid({ key, place }: Entry, error: Problem, isProtective: boolean): void {
    if (isProtective) this.refuse(place, `${key}: ${describeProblem(error)}`);
    else this.ignored(place, `${key}: ${describeProblem(error)}; the default applies`);
  }

  private ignored(place: Place, message: string): void {
    this.diagnostics.push(configKeyIgnored(place, message));
  }

  /** Closes all Ingresses of the class, because a setting that protects them is not served. */
  private refuse(place: Place, message: string): void {
    this.diagnostics.push(protectionRefused(place, `${message}; every request to the class is answered 503`));
    this.closes ??= message;
  }

  /** Closes the Ingresses of classes that are not served without a protection that this gateway does not support. */
  private cannotProtect(place: Place, message: string): void {
    const consequence = "every request to the class is answered 503, unless it says whenUnprotected: serve";
    this.diagnostics.push(protectionRefused(place, `${message}; ${consequence}`));
    this.unprotected ??= message;
  }

  finish(): NginxConfig {
    const { keys, defaults } = this;
    const trusting = keys.useForwardedHeaders ? "use-forwarded-headers" : "enable-real-ip";
    if ((keys.useForwardedHeaders || keys.enableRealIp) && keys.proxyRealIpCidr === undefined) {
      const place = this.places.get(trusting);
      if (place !== undefined) {
        this.diagnostics.push(
          riskyConfig(
            place,
            `${trusting} trusts ${keys.forwardedForHeader} of every peer, so clients can spoof their address; proxy-real-ip-cidr limits the trust to proxies`,
          ),
        );
      }
    }
    const features = this.features();
    return {
      keys,
      defaults,
      diagnostics: this.diagnostics,
      ...(features !== undefined && { features }),
      ...(this.fieldsOfPath.length > 0 && { fieldsOfPath: this.fieldsOfPath }),
      ...(this.closes !== undefined && { closes: this.closes }),
      ...(this.unprotected !== undefined && { unprotected: this.unprotected }),
    };
  }

  /** The features of all routes. */
  private features(): RouteFeatures | undefined {
    const { hideHeaders, addHeaders, proxySetHeaders, blockCidrs, useGzip, enableBrotli } = this.keys;
    const set = this.fieldsOf("add-headers", addHeaders);
    const requestHeaders = this.requestHeaders(this.fieldsOf("proxy-set-headers", proxySetHeaders));
    const { gzipLevel, gzipMinLength, gzipTypes } = this.keys;
    const features: RouteFeatures = {
      ...(blockCidrs.length > 0 && { "ip-access-control": { blocked: [...blockCidrs], deny: [] } }),
      ...((set.length > 0 || hideHeaders.length > 0) && {
        "response-headers": {
          ...(set.length > 0 && { set }),
          ...(hideHeaders.length > 0 && { remove: hideHeaders }),
        },
      }),
      ...(Object.keys(requestHeaders).length > 0 && { "request-headers": requestHeaders }),
      ...((useGzip || enableBrotli) && {
        compression: {
          gzip: useGzip,
          brotli: enableBrotli,
          level: gzipLevel,
          minSize: gzipMinLength,
          types: [...gzipTypes],
        },
      }),
    };
    return Object.keys(features).length === 0 ? undefined : features;
  }

  /** The header fields in a ConfigMap. Fields that cannot be set are reported. */
  private fieldsOf(key: string, name: NamespacedName | undefined): readonly HeaderField[] {
    const place = this.places.get(key);
    if (name === undefined || place === undefined) return [];
    const found = this.lookup("ConfigMap", name.namespace, name.name);
    const named = `ConfigMap ${formatNamespacedName(name)}`;
    if (found === undefined) {
      this.ignored(place, `${key}: ${named} does not exist`);
      return [];
    }
    const all = Object.entries(found.data ?? {});
    if (all.length > maxFields)
      this.ignored(place, `${key}: ${named} has ${all.length} fields; only the first ${maxFields} are set`);
    const fields: HeaderField[] = [];
    for (const [field, value] of all.slice(0, maxFields)) {
      const parsed = parseHeaderFields(`${field}: ${value.trim()}`, () => undefined);
      const [first] = parsed.ok && !/[\r\n]/.test(value.trim()) ? parsed.value : [];
      if (first === undefined) this.ignored(place, `${key}: field ${quote(field)} of ${named} cannot be set`);
      else fields.push(first);
    }
    return fields;
  }

  private requestHeaders(fields: readonly HeaderField[]): NonNullable<RouteFeatures["request-headers"]> {
    const place = this.places.get("proxy-set-headers");
    const set: HeaderField[] = [];
    const templates: { readonly name: string; readonly value: RequestTemplate }[] = [];
    for (const { name, value } of fields) {
      const text = textOfWireForm(value);
      const template = parseRequestTemplate(text);
      if (!template.ok && parseRequestTemplate(text, anyOptions).ok) {
        this.fieldsOfPath.push({ name, value });
        continue;
      }
      if (template.ok && literalOf(template.value) === undefined)
        templates.push({ name, value: template.value });
      else if (template.ok) set.push({ name, value });
      else if (place !== undefined)
        this.ignored(place, `proxy-set-headers: ${name}: ${template.error.message}`);
    }
    return { ...(set.length > 0 && { set }), ...(templates.length > 0 && { templates }) };
  }
}

/** Options with which a text is read to find out whether it has only known variables. */
const anyOptions = optionsOf({ metadata: { name: "", namespace: "" } }, { name: "", port: "" });

/** The maximum number of fields of one ConfigMap that are set. */
const maxFields = 100;
