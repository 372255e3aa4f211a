import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express";
import type { Logger } from "../telemetry/logger.ts";

/** An answer of an admin or health port. */
export type AdminAnswer = {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
};

/** A path that answers GET and HEAD. `path` may hold parameters, as in `/api/v1/fleet/proxies/:pod/routes`. */
export type AdminRoute = {
  readonly path: string;
  answer(request: AdminRequest): AdminAnswer | Promise<AdminAnswer>;
};

export type AdminRequest = {
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters; of repeated ones the last. */
  readonly query: URLSearchParams;
};

/** The caller of a page of the admin port. */
export type AdminCaller = {
  /** The field `Authorization`. */
  readonly authorization: string | undefined;
  /** The path as it was sent, without its query. */
  readonly path: string;
  /** The address of the peer. */
  readonly peer: string;
};

/** Decides whether a caller gets a page; the answer is what it gets instead. */
export type AdminAccess = (caller: AdminCaller) => AdminAnswer | undefined | Promise<AdminAnswer | undefined>;

/** A JSON answer. */
export const jsonAnswer = (value: unknown, status: number = 200): AdminAnswer => ({
  status,
  contentType: "application/json; charset=utf-8",
  body: JSON.stringify(value),
});

/** A plain-text answer. */
export const textAnswer = (body: string, status: number = 200): AdminAnswer => ({
  status,
  contentType: "text/plain; charset=utf-8",
  body,
});

/**
 * The handler of a port: its routes answer GET and HEAD, other methods get 405 with `Allow` (RFC 9110 section 15.5.6),
 * and any other path 404. With `access` every caller is authorized first. Answers are never cached and do not reveal
 * the software.
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
        authorization: request.headers.authorization,
        path: request.path,
        peer: request.socket.remoteAddress ?? "",
      });
      if (refusal === undefined) next();
      else send(response, refusal);
    });
  }
  for (const { path, answer } of routes) {
    app
      .route(path)
      .get(async (request, response) => {
        send(response, await answer({ params: paramsOf(request), query: queryOf(request) }));
      })
      .all((_request, response) => {
        response.setHeader("Allow", "GET, HEAD");
        send(response, textAnswer("method not allowed\n", 405));
      });
  }
  app.use((_request, response) => send(response, textAnswer("not found\n", 404)));
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const status = error instanceof URIError ? 400 : 500;
    if (status === 500) logger.error({ path: request.path, err: error }, "admin request failed");
    if (response.headersSent) response.destroy();
    else send(response, textAnswer(status === 400 ? "bad request\n" : "internal error\n", status));
  };
  app.use(onError);
  return app;
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
