import { Client, credentials, status } from "@grpc/grpc-js";
import { around, pause, type Stage } from "../stage.ts";

const asBytes = (value: Buffer): Buffer => value;
const messagesPerCall = 20;

/**
 * Makes one call of several messages; each is echoed before the next is sent. Resolves with a description of any
 * error.
 */
function chat(client: Client, { tally, signal }: Stage): Promise<string> {
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest("/soak.Echo/Chat", asBytes, asBytes);
    let left = messagesPerCall;
    const send = (): void => void call.write(Buffer.from(`message ${left}`));
    call.on("data", (message: Buffer) => {
      tally.done("grpc");
      if (message.toString() !== `message ${left}`) return resolve("another message");
      left--;
      void pause(around(1000), signal).then((goesOn) => {
        if (goesOn && left > 0) send();
        else call.end();
      });
    });
    call.on("status", ({ code, details }) =>
      resolve(code === status.OK ? "" : `${status[code]}: ${details}`),
    );
    call.on("error", () => {});
    send();
  });
}

/** Makes calls sequentially, on a connection of its own, until the end. */
export async function runGrpc(stage: Stage): Promise<void> {
  const client = new Client(`${stage.host}:${stage.port}`, credentials.createInsecure(), {
    "grpc.default_authority": "grpc.example.com",
    "grpc.use_local_subchannel_pool": 1,
  });
  while (await pause(around(500), stage.signal)) {
    const fault = await chat(client, stage);
    if (fault !== "") stage.tally.failed("grpc", fault);
  }
  client.close();
}
