/**
 * An application that knows only its internal address, as a pod runs it until SIGTERM. It answers every request with
 * a redirect and a cookie for that address.
 */
import { createServer } from "node:http";

const server = createServer((_request, response) => {
  response
    .writeHead(302, {
      Location: "http://internal.example:8080/app/next?from=/app",
      "Set-Cookie": "sid=1; Domain=internal.example; Path=/app/x; HttpOnly",
    })
    .end();
});
server.listen(8080, "0.0.0.0");
process.once("SIGTERM", () => server.close());
