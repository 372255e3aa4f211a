/** The HTTP handler of the console: signs callers in and serves pages. Pages load nothing from other sites. */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { cookieIn, isOwnForm, isOwnHost } from "./access/request-checks.ts";
import type { SignIn } from "./access/sign-in.ts";
import type { ConsoleSource } from "./console-source.ts";
import type { Explainer } from "./explainer.ts";
import { iconFile, renderPage, renderSignIn, type Page } from "./layout.ts";
import { emptyModel, modelOf } from "./model/model.ts";
import { backendsPage } from "./pages/backends.ts";
import { certificatesPage } from "./pages/certificates.ts";
import { explainPage, maxTyped, type TypedRequest } from "./pages/explain.ts";
import { findingsPage } from "./pages/findings.ts";
import { listenersPage } from "./pages/listeners.ts";
import { overviewPage } from "./pages/overview.ts";
import { proxiesPage } from "./pages/proxies.ts";
import { routesPage } from "./pages/routes.ts";
import { searchPage } from "./pages/search.ts";
import { trafficPage } from "./pages/traffic.ts";
import { styleSheet } from "./style.ts";
import type { TrafficKeeper } from "./traffic.ts";
import { textOf, type View } from "./view.ts";

export type ConsoleAppOptions = {
  readonly source: ConsoleSource;
  readonly signIn: SignIn;
  /** The text about tokens on the sign-in page. */
  readonly signInHint: string;
  readonly explainer: Explainer;
  readonly traffic: TrafficKeeper | undefined;
  /** The host names of the console, in addition to addresses and `localhost`. */
  readonly hosts: readonly string[];
  readonly nowMs: () => number;
  readonly log: Logger;
};

const cookieName = "svc-gateway-console";
const maxFormBytes = 32 * 1024;

/** The headers of every response. They permit only the style sheet, icon and forms of the console, and no scripts. */
const headers = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Cache-Control": "no-store",
} as const;

/** The pages that depend only on the view, by their path. */
const pages: Readonly<Record<string, (view: View) => Page>> = {
  "/": overviewPage,
  "/listeners": listenersPage,
  "/routes": routesPage,
  "/backends": backendsPage,
  "/certificates": certificatesPage,
  "/findings": findingsPage,
  "/proxies": proxiesPage,
  "/search": searchPage,
};

export function createConsoleApp(options: ConsoleAppOptions): Express {
  const { source, signIn, signInHint, explainer, traffic, hosts, nowMs, log } = options;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.set("query parser", false);

  const show = (response: Response, page: Page, view: View): void => {
    const errors = view.model.findings.filter(({ severity }) => severity === "error").length;
    const at = new Date(view.nowMs).toISOString().slice(11, 19);
    send(response, renderPage(page, { mode: source.mode, version: source.version, errors, at }));
  };
  const askToSignIn = (response: Response, status: number, problem?: string): void =>
    send(response, renderSignIn(signInHint, problem), status);
  const viewOf = (request: Request): View => {
    const build = source.build();
    const model = build === undefined ? emptyModel : modelOf(build);
    return { source, build, model, nowMs: nowMs(), query: queryOf(request) };
  };
  const enter = async (request: Request, response: Response, token: string): Promise<void> => {
    const entered = await signIn.enter(token, request.socket.remoteAddress ?? "");
    if (typeof entered === "string") {
      log.warn({ event: "sign_in_refused", reason: entered }, "sign-in to the console refused");
      const [status, problem] = refusals[entered];
      return askToSignIn(response, status, problem);
    }
    response.setHeader("Set-Cookie", `${cookieName}=${entered.session}; Path=/; HttpOnly; SameSite=Strict`);
    response.redirect(303, "/");
  };

  app.use((request, response, next) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (!isOwnHost(request.headers.host, hosts)) {
      return sendText(response, 421, "this name is not one of the console's: see --admin-ui-hosts\n");
    }
    if (request.method === "POST" && !isOwnForm(request.headers)) {
      return sendText(response, 403, "only forms of the console may be sent\n");
    }
    if (!["GET", "HEAD", "POST"].includes(request.method)) {
      response.setHeader("Allow", "GET, HEAD, POST");
      return sendText(response, 405, "method not allowed\n");
    }
    next();
  });
  app.get("/console.css", (_, response) => sendFile(response, "text/css", styleSheet));
  app.get("/icon.svg", (_, response) => sendFile(response, "image/svg+xml", iconFile));
  app.use(express.urlencoded({ extended: false, limit: maxFormBytes, parameterLimit: 8 }));
  app.post("/sign-in", (request, response) => enter(request, response, fieldOf(request, "token", 16_384)));
  // A link with a token that is valid once.
  app.get("/sign-in", (request, response) => {
    const token = queryOf(request).get("token");
    return token === null ? askToSignIn(response, 200) : enter(request, response, token);
  });
  app.use((request, response, next) => {
    if (signIn.isOpen(cookieIn(request.headers.cookie, cookieName))) return next();
    askToSignIn(response, 401);
  });
  app.post("/sign-out", (request, response) => {
    signIn.leave(cookieIn(request.headers.cookie, cookieName));
    response.redirect(303, "/sign-in");
  });
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, (request, response) => {
      const view = viewOf(request);
      show(response, page(view), view);
    });
  }
  app.get("/traffic", async (request, response) => {
    const view = viewOf(request);
    show(response, trafficPage(view, await traffic?.look(performance.now())), view);
  });
  app.get("/explain", (request, response) => {
    const view = viewOf(request);
    const url = (view.query.get("url") ?? "").slice(0, maxTyped.url);
    const typed: TypedRequest = { method: "GET", url, headers: "", scope: textOf(view, "scope") };
    show(response, explainPage(typed, scopesOf(view)), view);
  });
  app.post("/explain", async (request, response) => {
    const view = viewOf(request);
    const typed: TypedRequest = {
      method: fieldOf(request, "method", maxTyped.method),
      url: fieldOf(request, "url", maxTyped.url),
      headers: fieldOf(request, "headers", maxTyped.headers),
      scope: fieldOf(request, "scope", maxTyped.scope),
    };
    show(response, explainPage(typed, scopesOf(view), await explainer.explain(typed, view.build)), view);
  });
  app.use((_, response) => sendText(response, 404, "not found\n"));
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const status = statusOf(error);
    if (status === 500) log.error({ path: request.path, err: error }, "console request failed");
    if (response.headersSent) response.destroy();
    else sendText(response, status, status === 500 ? "internal error\n" : "bad request\n");
  };
  app.use(onError);
  return app;
}

const refusals = {
  refused: [403, "This token is not valid, or may not read the console."],
  unavailable: [503, "The token cannot be reviewed now."],
  "too-many": [429, "Too many attempts: try again in a minute."],
} as const;

/** The Gateways with dedicated proxies. */
const scopesOf = ({ build }: View): readonly string[] =>
  build?.translation.scopes.dedicated.map(({ gateway }) => formatNamespacedName(gateway)) ?? [];

/** The status for an error. Errors of the form parser have the status of the client's mistake. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 0;
  if (error instanceof URIError) return 400;
  return status >= 400 && status < 500 ? status : 500;
}

const fieldOf = (request: Request, name: string, maxLength: number): string => {
  const value = (request.body as Readonly<Record<string, unknown>> | undefined)?.[name];
  // Forms send line ends as CR LF.
  return typeof value === "string" ? value.slice(0, maxLength).replaceAll("\r\n", "\n") : "";
};

const queryOf = (request: Request): URLSearchParams => {
  const mark = request.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : request.url.slice(mark + 1));
};

function send(response: Response, markup: string, status = 200): void {
  response.status(status);
  sendFile(response, "text/html", markup);
}

function sendText(response: Response, status: number, text: string): void {
  response.status(status);
  sendFile(response, "text/plain", text);
}

function sendFile(response: Response, type: string, text: string): void {
  response.setHeader("Content-Type", `${type}; charset=utf-8`);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(response.req.method === "HEAD" ? undefined : text);
}
