/** The echo backend as a pod runs it: answers with the pod's name on port 8080 until SIGTERM. */
import { startEchoBackend } from "../../scripts/echo/backend.ts";

const backend = await startEchoBackend({
  name: process.env["POD_NAME"] ?? "echo",
  port: 8080,
  host: "0.0.0.0",
});
process.once("SIGTERM", () => void backend.close());
