/** Sends the requests of the corpus through a gateway, and compares the answers with what is expected. */
import { once } from "node:events";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { request as requestHttps } from "node:https";
import { expect } from "chai";
import { WebSocket } from "ws";
import { callEcho } from "../../../scripts/echo/grpc-client.ts";
import type { CorpusRequest, ExpectedFields } from "./cases.ts";
import { identityOf } from "./client-identities.ts";

export type Ports = { readonly httpPort: number; readonly httpsPort: number };

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Answer = {
  readonly status: number;
  readonly fields: Fields;
  /** The Service that answered; undefined if the gateway itself did. */
  readonly from: string | undefined;
  /** The request as the Service saw it. */
  readonly seen?: { readonly path: string; readonly fields: Fields };
};

/** Sends a request `times` times; each answer must be as expected. */
export async function expectAnswers(ports: Ports, wanted: CorpusRequest): Promise<void> {
  compareAnswers(await sendAll(ports, wanted), wanted);
}

/** Sends a request `times` times, once if absent, and returns the answers. */
export async function sendAll(ports: Ports, wanted: CorpusRequest): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let sent = 0; sent < (wanted.times ?? 1); sent++) answers.push(await send(ports, wanted));
  return answers;
}

/** Each answer must be as expected; throws an assertion error otherwise. */
export function compareAnswers(answers: readonly Answer[], wanted: CorpusRequest): void {
  for (const answer of answers) compare(answer, wanted);
  const endpoints = new Set(answers.map(({ from }) => from));
  if (wanted.same === true) expect([...endpoints], wanted.request).to.have.length(1);
  const statuses = answers.map(({ status }) => status);
  if (wanted.some !== undefined) expect(statuses, wanted.request).to.include(wanted.some);
}

function compare({ status, fields, from, seen }: Answer, wanted: CorpusRequest): void {
  const { request } = wanted;
  if (wanted.status === "refused") expect(status, request).to.be.oneOf([403, 503]);
  else if (wanted.status !== undefined) expect(status, request).to.equal(wanted.status);
  if (wanted.from !== undefined) expect(from, `${request}: Service`).to.equal(wanted.from);
  if (wanted.path !== undefined) expect(seen?.path, `${request}: path upstream`).to.equal(wanted.path);
  compareFields(`${request}: upstream`, seen?.fields ?? {}, wanted.upstream ?? {});
  compareFields(`${request}: response`, fields, wanted.response ?? {});
}

function compareFields(where: string, actual: Fields, expected: ExpectedFields): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = actual[name]?.toString();
    const pattern = value === null ? undefined : /^\/(.*)\/(i?)$/s.exec(value);
    if (pattern) expect(found, `${where} ${name}`).to.match(new RegExp(pattern[1] ?? "", pattern[2]));
    else expect(found, `${where} ${name}`).to.equal(value ?? undefined);
  }
}

/** The answer to one request of any kind. */
export function send(ports: Ports, wanted: CorpusRequest): Promise<Answer> {
  const [method = "", target = ""] = wanted.request.split(" ");
  const url = new URL(target);
  if (method === "WEBSOCKET") return openWebSocket(ports, url);
  if (method === "GRPC") return callGrpc(ports, url);
  return sendHttp(ports, method, target, wanted);
}

/** Sends the path unchanged; `URL` would normalise it. */
async function sendHttp(
  { httpPort, httpsPort }: Ports,
  method: string,
  target: string,
  { headers, user, bytes, certificate }: CorpusRequest,
): Promise<Answer> {
  const [, scheme, host = "", path = "/"] = /^(https?):\/\/([^/]+)(.*)$/s.exec(target) ?? [];
  const isTls = scheme === "https";
  const sent = (isTls ? requestHttps : requestHttp)({
    host: "127.0.0.1",
    port: isTls ? httpsPort : httpPort,
    servername: host,
    rejectUnauthorized: false,
    agent: false,
    ...(certificate !== undefined && identityOf(certificate)),
    method,
    path: path || "/",
    headers: {
      host,
      ...headers,
      ...(user !== undefined && { authorization: `Basic ${Buffer.from(user).toString("base64")}` }),
      ...(bytes !== undefined && { "content-length": String(bytes) }),
    },
  });
  // A refused body is not read to its end.
  sent.on("error", () => undefined);
  sent.end(bytes === undefined ? undefined : Buffer.alloc(bytes, "x"));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const body = await readText(response);
  const from = response.headers["echo-backend"]?.toString();
  const answer = { status: response.statusCode ?? 0, fields: response.headers, from };
  return from === undefined || body === "" ? answer : { ...answer, seen: seenIn(body) };
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function seenIn(body: string): NonNullable<Answer["seen"]> {
  const { path, headers } = JSON.parse(body) as { path: string; headers: [string, string][] };
  const fields: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    fields[key] = fields[key] === undefined ? value : `${fields[key]}, ${value}`;
  }
  return { path, fields };
}

async function openWebSocket({ httpPort, httpsPort }: Ports, url: URL): Promise<Answer> {
  const isTls = url.protocol === "wss:";
  const address = `${url.protocol}//127.0.0.1:${isTls ? httpsPort : httpPort}${url.pathname}${url.search}`;
  const tls = { servername: url.hostname, rejectUnauthorized: false };
  const socket = new WebSocket(address, { headers: { host: url.host }, ...tls });
  const [first] = (await once(socket, "message")) as [Buffer];
  const { backend, path } = JSON.parse(first.toString("utf8")) as { backend: string; path: string };
  socket.send("hello");
  const [echoed] = (await once(socket, "message")) as [Buffer];
  expect(echoed.toString("utf8")).to.equal("hello");
  socket.close();
  await once(socket, "close");
  return { status: 101, fields: {}, from: backend, seen: { path, fields: {} } };
}

async function callGrpc({ httpsPort }: Ports, url: URL): Promise<Answer> {
  const session = connect(`https://127.0.0.1:${httpsPort}`, {
    servername: url.hostname,
    rejectUnauthorized: false,
  });
  try {
    const { messages, headers, trailers } = await callEcho(session, ["one", "two"], {
      ":authority": url.host,
    });
    expect({ messages, status: trailers["grpc-status"] }, url.href).to.deep.equal({
      messages: ["one", "two"],
      status: "0",
    });
    return { status: Number(headers[":status"]), fields: {}, from: String(headers["echo-backend"]) };
  } finally {
    session.close();
  }
}
