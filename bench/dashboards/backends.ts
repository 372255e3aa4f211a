/**
 * The backends of manifests.yaml: healthy, failing and slow ones, others with protocols other than HTTP, and a server
 * of key sets.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer as createTcpServer } from "node:net";

/** The share of requests that the failing backend answers with 503. */
const failing = 0.7;
/** Longer than the read timeout of the Ingress "slow". */
const slowMs = 400;

/** The public key of config/examples/jwt. */
const key = {
  ...{ kty: "OKP", crv: "Ed25519", kid: "example", alg: "EdDSA" },
  x: "DD_Cap-_yZKaSAkf5IbGXrxEpTpYsjIW3mttliA_sEo",
};

const answer: RequestListener = (request, response) => {
  request.resume();
  if (request.url === "/slow") setTimeout(() => response.end("late"), slowMs);
  else response.end("shop");
};

/** Starts the backends at an address; they end with the process. */
export async function startBackends(
  address: string,
  identity: { readonly certificatePem: string; readonly keyPem: string },
): Promise<void> {
  const stock = createServer((_request, response) => {
    response.writeHead(Math.random() < failing ? 503 : 200).end("stock");
  });
  const keys = createSecureServer({ cert: identity.certificatePem, key: identity.keyPem }, (_, response) =>
    response.end(JSON.stringify({ keys: [key] })),
  );
  const raw = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  const servers = [
    createServer(answer).listen(9100, address),
    raw.listen(9101, address),
    stock.listen(9103, address),
    keys.listen(9104, "localhost"),
  ];
  const datagrams = createSocket("udp4");
  datagrams.on("message", (message, { port, address: from }) => datagrams.send(message, port, from));
  datagrams.bind(9102, address);
  await Promise.all([...servers, datagrams].map((server) => once(server, "listening")));
}
