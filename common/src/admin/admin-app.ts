import express, {
  type ErrorRequestHandler,
  type Express,
  type IRoute,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import type { Logger } from "../telemetry/logger.ts";
import { isLoopback, reachableIps } from "../values/reachable-ip.ts";
import { type AdminAnswer, textAnswer } from "./admin-answer.ts";

/** A path that answers GET and HEAD. `path` can have parameters, as in `/api/v1/fleet/proxies/:pod/routes`. */
export type AdminRoute = {
  readonly path: string;
  answer(request: AdminRequest): AdminAnswer | Promise<AdminAnswer>;
  /** Handles PUT and DELETE of callers within the pod. If absent, nothing can be changed. */
  change?(request: AdminChange): AdminAnswer | Promise<AdminAnswer>;
};

export type AdminRequest = {
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters; the last of repeated ones is used. */
  readonly query: URLSearchParams;
};

/** A request for a change; the body is text. */
export type AdminChange = AdminRequest & {
  readonly method: "PUT" | "DELETE";
  readonly body: string;
};

/** The caller of a page of the admin port. */
export type AdminCaller = {
  /** The verb of a non-resource URL in Kubernetes: `get`, `put`, `delete` … */
  readonly verb: string;
  /** The field `Authorization`. */
  readonly authorization: string | undefined;
  /** The path as sent by the caller, without its query. */
  readonly path: string;
  /** The address of the peer. */
  readonly peer: string;
};

/** Decides whether a caller gets a page; a returned answer is sent instead of the page. */
export type AdminAccess = (caller: AdminCaller) => AdminAnswer | undefined | Promise<AdminAnswer | undefined>;

const maxBodyBytes = 4096;

/**
 * Creates the handler of a port. Its routes answer GET and HEAD, and those that can be changed also PUT and DELETE;
 * other methods get 405 with `Allow` (RFC 9110 section 15.5.6), and other paths 404. With `access`, every caller is
 * authorized first. Answers are never cached and do not reveal the software.
 */
export function createAdminApp(routes: readonly AdminRoute[], logger: Logger, access?: AdminAccess): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.set("query parser", false);
  if (access !== undefined) {
    app.use(async (request, response, next) => {
      const refusal = await access({
        verb: verbOf(request.method),
        authorization: request.headers.authorization,
        path: request.path,
        peer: request.socket.remoteAddress ?? "",
      });
      if (refusal === undefined) next();
      else send(response, refusal);
    });
  }
  for (const one of routes) {
    const { path, change } = one;
    const route = app.route(path).get(async (request, response) => {
      send(response, await one.answer({ params: paramsOf(request), query: queryOf(request) }));
    });
    if (change !== undefined) addChange(route, change);
    route.all((_request, response) => {
      response.setHeader("Allow", change === undefined ? "GET, HEAD" : "GET, HEAD, PUT, DELETE");
      send(response, textAnswer("method not allowed\n", 405));
    });
  }
  app.use((_request, response) => send(response, textAnswer("not found\n", 404)));
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const status = error instanceof URIError ? 400 : statusOfBody(error);
    if (status === 500) logger.error({ path: request.path, err: error }, "admin request failed");
    if (response.headersSent) response.destroy();
    else send(response, textAnswer(status === 500 ? "internal error\n" : "bad request\n", status));
  };
  app.use(onError);
  return app;
}

/**
 * Returns the status for an error of a body. Bodies that are too long, compressed or truncated have their own statuses
 * (package body-parser).
 */
const statusOfBody = (error: unknown): number =>
  error instanceof Error && "status" in error && "type" in error && typeof error.status === "number"
    ? error.status
    : 500;

const verbOf = (method: string): string => (method === "HEAD" ? "get" : method.toLowerCase());

const notWithin = textAnswer("forbidden: changes are accepted from within the pod only\n", 403);

/**
 * Reports whether a request may change something. Browsers, which send `Origin` with each change, are rejected: a web
 * page must not use a port that is forwarded to the machine of its user.
 */
const mayChange = (request: Request): boolean =>
  reachableIps(request.socket.remoteAddress ?? "").some(isLoopback) && request.headers.origin === undefined;

function addChange(route: IRoute, change: NonNullable<AdminRoute["change"]>): void {
  const guard: RequestHandler = (request, response, next) => {
    if (mayChange(request)) next();
    else send(response, notWithin);
  };
  const readBody = express.text({ type: () => true, limit: maxBodyBytes, inflate: false });
  const handler =
    (method: AdminChange["method"]): RequestHandler =>
    async (request, response) => {
      const body: unknown = request.body;
      send(
        response,
        await change({
          method,
          params: paramsOf(request),
          query: queryOf(request),
          body: typeof body === "string" ? body : "",
        }),
      );
    };
  route.put(guard, readBody, handler("PUT")).delete(guard, handler("DELETE"));
}

function send(response: Response, { status = 200, contentType, body, challenge }: AdminAnswer): void {
  response.status(status);
  if (challenge !== undefined) response.setHeader("WWW-Authenticate", challenge);
  response.setHeader("Content-Type", contentType);
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(response.req.method === "HEAD" ? undefined : body);
}

function paramsOf(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, String(value)]));
}

function queryOf(request: Request): URLSearchParams {
  const mark = request.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : request.url.slice(mark + 1));
}
