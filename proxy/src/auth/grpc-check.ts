import { isUtf8 } from "node:buffer";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import {
  CheckRequest,
  CheckResponse,
  type HeaderValueOption,
} from "@svc-gateway/proto/generated/ext-authz.js";
import type { Exchange } from "../exchange/exchange.ts";
import { isGrpc } from "../http/request-fields.ts";
import { fieldPairs, joinedField } from "../message/field-list.ts";
import { Fields } from "../message/fields.ts";
import { isHopByHop } from "../message/hop-by-hop.ts";
import type { HeaderList } from "../message/message.ts";
import { BufferBody, type ExternalAnswer } from "./external-call.ts";
import { refusal, type ExternalCheckApi, type ExternalVerdict } from "./external-check.ts";
import { schemeOf, shownFields } from "./http-check.ts";

const method = "/envoy.service.auth.v3.Authorization/Check";

/** The size of the compression flag and the message length (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const prefixBytes = 5;

/** The gRPC statuses that deny the request without a response message, with the HTTP status of the denial. */
const refusals = new Map([
  ["7", 403],
  ["16", 401],
]);

/** Creates check requests as calls of Envoy's authorization API. See docs/features/ext-auth.md, "Over gRPC". */
export function createGrpcCheck({
  endpoints,
  allowedHeaders,
  timeoutMs,
}: Pick<ExternalCheck, "endpoints" | "allowedHeaders" | "timeoutMs">): ExternalCheckApi {
  const allowed = allowedHeaders === undefined ? undefined : new Set(allowedHeaders);
  const [namespace, service, port] = endpoints.split("/");
  const headers: HeaderList = [
    "content-type",
    "application/grpc",
    "te",
    "trailers",
    "grpc-timeout",
    `${Math.ceil(timeoutMs)}m`,
  ];
  return {
    request: (exchange, body) => ({
      protocol: "http2",
      method: "POST",
      target: method,
      authority: `${service}.${namespace}.svc:${port}`,
      scheme: "http",
      headers: Fields.of([...headers]),
      body: new BufferBody(frame(describe(exchange, allowed, body).serialize())),
      upgrade: undefined,
      expectContinue: false,
    }),
    readsBody: () => true,
    verdict: readVerdict,
  };
}

function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixBytes);
  return framed;
}

/** Describes the request by attributes of Envoy's API. */
function describe(
  exchange: Exchange,
  allowed: ReadonlySet<string> | undefined,
  body: Buffer | undefined,
): CheckRequest {
  const { connection, clientIp } = exchange;
  const { remoteAddress, remotePort, localAddress = "" } = connection;
  const nowMs = Date.now();
  const isText = body === undefined || isUtf8(body);
  return CheckRequest.fromObject({
    attributes: {
      // The port belongs to the peer; that of a client behind a proxy is not known.
      source: peer(clientIp, clientIp === remoteAddress ? remotePort : 0),
      destination: peer(localAddress, exchange.publicPort.port),
      request: {
        time: { seconds: Math.floor(nowMs / 1000), nanos: (nowMs % 1000) * 1_000_000 },
        http: {
          method: exchange.method,
          headers: fieldMap(shownFields(exchange, (name) => allowed?.has(name) ?? true)),
          path: exchange.path + exchange.query,
          host: exchange.authority,
          scheme: schemeOf(exchange),
          size: exchange.client.body === null ? 0 : (exchange.contentLength ?? body?.length ?? -1),
          protocol: exchange.version === "2.0" ? "HTTP/2" : `HTTP/${exchange.version}`,
          ...(body !== undefined && (isText ? { body: body.toString("utf8") } : { raw_body: body })),
        },
      },
      context_extensions: { route: exchange.routeId },
    },
  });
}

const peer = (address: string, port: number) => ({
  address: { socket_address: { address, port_value: port } },
});

/** Converts fields to a map with names in lower case and the values of one name joined. */
function fieldMap(headers: HeaderList): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, bytes] of fieldPairs(headers)) {
    const lower = name.toLowerCase();
    const value = fromWire(bytes);
    const before = fields.get(lower);
    fields.set(lower, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(fields);
}

/** Decodes UTF-8 in a field value: field values hold one character per octet, gRPC messages hold text. */
const fromWire = (value: string): string =>
  /^[\x20-\x7e]*$/.test(value) ? value : Buffer.from(value, "latin1").toString("utf8");

const toWire = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

function readVerdict(answer: ExternalAnswer): ExternalVerdict | undefined {
  if (answer.status !== 200 || !isGrpc(joinedField(answer.headers, "content-type") ?? "")) return undefined;
  const status = joinedField(answer.trailers ?? answer.headers, "grpc-status");
  const refused = refusals.get(status ?? "");
  if (refused !== undefined) return refusal(refused, [], "", `grpc-status ${status}`);
  const message = status === "0" ? unframe(answer.body) : undefined;
  const response = message && parse(message);
  if (response === undefined) return undefined;
  const isOk = !response.has_status || response.status.code === 0;
  if (isOk && !response.has_denied_response) {
    if (!response.has_ok_response) return { allowed: true, headers: [], forClient: [] };
    const { headers, response_headers_to_add: forClient } = response.ok_response;
    return { allowed: true, headers: fieldsOf(headers), forClient: fieldsOf(forClient) };
  }
  return response.has_denied_response ? readDenial(response) : refusal(403, [], "");
}

/** The message in the body of an answer; undefined unless it is uncompressed and the only one. */
function unframe(body: Buffer): Buffer | undefined {
  if (body.length < prefixBytes || body[0] !== 0) return undefined;
  return body.readUInt32BE(1) === body.length - prefixBytes ? body.subarray(prefixBytes) : undefined;
}

function parse(message: Buffer): CheckResponse | undefined {
  try {
    return CheckResponse.deserialize(message);
  } catch {
    return undefined;
  }
}

function readDenial({ denied_response: denied }: CheckResponse): ExternalVerdict {
  const code = denied.has_status ? denied.status.code : 0;
  const headers = fieldsOf(denied.headers);
  if (denied.body !== "" && joinedField(headers, "content-type") === undefined) {
    headers.push("Content-Type", "text/plain");
  }
  return refusal(code >= 200 && code <= 599 ? code : 403, headers, toWire(denied.body));
}

/** The fields of the answer that the proxy may send: well-formed ones, none of which frames a message. */
function fieldsOf(options: readonly HeaderValueOption[]): HeaderList {
  const fields: HeaderList = [];
  for (const { header, has_header } of options) {
    if (!has_header) continue;
    const name = header.key;
    const raw = header.raw_value;
    const value = raw.length > 0 ? Buffer.from(raw).toString("latin1") : toWire(header.value);
    if (mayBeIdentityHeader(name) && !isHopByHop(name) && isHeaderValue(value)) fields.push(name, value);
  }
  return fields;
}
