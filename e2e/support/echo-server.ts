/**
 * The echo backend, as a pod runs it until SIGTERM. It answers with the name of the pod on port 8080, and over TLS on
 * port 8443 if it has a certificate. There, a line `name?` instead of a request is answered with the name of the pod
 * and the server name of the connection. Datagrams to port 8053 are returned with the name in front.
 */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { createServer } from "node:tls";
import { startEchoBackend } from "../../scripts/echo/backend.ts";

const name = process.env["POD_NAME"] ?? "echo";
const backend = await startEchoBackend({
  name,
  port: 8080,
  host: "0.0.0.0",
});
const datagrams = createSocket("udp4");
datagrams.on("message", (message, { port, address }) => {
  datagrams.send(`${name} ${message.toString()}`, port, address);
});
datagrams.bind(8053, "0.0.0.0");
const { TLS_CERTIFICATE: cert, TLS_KEY: key } = process.env;
const secure = createServer({ cert, key }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", (first) => {
    if (first.toString() === "name?\n") return void socket.end(`${name} ${String(socket.servername)}`);
    const plain = connect(8080, "127.0.0.1").on("error", () => socket.destroy());
    plain.write(first);
    socket.pipe(plain).pipe(socket);
  });
});
if (cert !== undefined) secure.listen(8443, "0.0.0.0");
process.once("SIGTERM", () => {
  datagrams.close();
  secure.close();
  void backend.close();
});
