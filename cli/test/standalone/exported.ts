import { until } from "../../../common/test/until.ts";
import type { Gateway } from "./gateway.ts";

/**
 * Sends a request and waits until its spans have been exported. `send` returns the condition for that. An export that
 * takes longer than ten seconds, as on a busy machine, is given up; the request is then sent again.
 */
export async function exported(gateway: Gateway, send: () => Promise<() => boolean>): Promise<void> {
  const givenUp = (): number =>
    gateway.logLines.filter(({ message }) => message === "spans were dropped").length;
  for (let isExported = false; !isExported;) {
    const before = givenUp();
    const hasSpans = await send();
    await until(() => hasSpans() || givenUp() > before, "the spans of the request");
    isExported = hasSpans();
  }
}
