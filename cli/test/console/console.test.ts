import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdminAccess } from "@svc-gateway/common/admin/admin-app.ts";
import { textAnswer } from "@svc-gateway/common/admin/admin-answer.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { startConsole, type ConsoleOptions, type RunningConsole } from "../../src/console/console.ts";
import { sourceOf } from "./support.ts";

const settings = {
  adminUi: true,
  adminUiPort: 0,
  adminUiBindAddress: "127.0.0.1",
  adminUiHosts: [],
  adminUiTokenFile: undefined,
};

describe("how the console starts", () => {
  let running: RunningConsole | undefined;
  let printed = "";
  const terminal = (isTerminal: boolean): ConsoleOptions["err"] => ({
    write: (text) => void (printed += text),
    isTerminal,
    hasColours: false,
  });
  const start = (options: Partial<ConsoleOptions>): ReturnType<typeof startConsole> =>
    startConsole({
      settings,
      source: sourceOf(undefined),
      err: terminal(false),
      log: silentLogger,
      ...options,
    });
  const run = async (options: Partial<ConsoleOptions>): Promise<string> => {
    const started = await start(options);
    if (!started.ok) throw new Error(started.error);
    running = started.value;
    return `http://127.0.0.1:${running?.port}`;
  };
  const signIn = async (url: string, token: string): Promise<number> =>
    (
      await fetch(`${url}/sign-in`, {
        method: "POST",
        body: new URLSearchParams({ token }),
        redirect: "manual",
        headers: { origin: url },
      })
    ).status;
  beforeEach(() => void (printed = ""));
  afterEach(() => running?.close());

  it("a console that is not switched on opens no port", async () => {
    const started = await start({ settings: { ...settings, adminUi: false } });
    expect(started).to.deep.equal({ ok: true, value: undefined });
  });

  it("a console that no caller could sign in to ends the start", async () => {
    const started = await start({});
    expect(started.ok ? "" : started.error).to.match(/^--admin-ui: there is no way to sign in: /);
  });

  it("a terminal shows a link, which is valid once, and then the next one", async () => {
    const url = await run({ err: terminal(true) });
    const links = (): readonly string[] => printed.match(/http\S+/g) ?? [];
    const [first = ""] = links();
    expect(first).to.match(new RegExp(`^${url}/sign-in\\?token=[\\w-]{43}$`));
    const follow = async (): Promise<number> => (await fetch(first, { redirect: "manual" })).status;
    expect([await follow(), await follow()]).to.deep.equal([303, 403]);
    expect(links()).to.have.length(2);
  });

  it("the token of a file is read at each sign-in, and a short one admits no caller", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-console-"));
    const adminUiTokenFile = join(folder, "token");
    const url = await run({ settings: { ...settings, adminUiTokenFile } });
    expect(await signIn(url, "")).to.equal(503);
    await writeFile(adminUiTokenFile, "short\n");
    expect(await signIn(url, "short")).to.equal(503);
    await writeFile(adminUiTokenFile, "0123456789abcdef\n");
    expect([await signIn(url, "0123456789abcdef"), await signIn(url, "other")]).to.deep.equal([303, 403]);
    await rm(folder, { recursive: true });
  });

  it("a token of the cluster is reviewed for /console", async () => {
    const asked: unknown[] = [];
    const access: AdminAccess = ({ authorization, path }) => {
      asked.push([authorization, path]);
      if (authorization === "Bearer good") return undefined;
      return authorization === "Bearer late" ? textAnswer("", 503) : textAnswer("", 403);
    };
    const url = await run({ access });
    expect([await signIn(url, "good"), await signIn(url, "bad"), await signIn(url, "late")]).to.deep.equal([
      303, 403, 503,
    ]);
    expect(asked[0]).to.deep.equal(["Bearer good", "/console"]);
  });

  it("a port that is taken ends the start, and peers that are refused get no answer", async () => {
    const url = await run({ err: terminal(true), isRefusedPeer: () => true });
    expect(await fetch(url).catch(() => "refused")).to.equal("refused");
    const again = await start({
      err: terminal(true),
      settings: { ...settings, adminUiPort: running?.port ?? 0 },
    });
    expect(again.ok ? "" : again.error).to.equal(
      `--admin-ui-port: cannot listen on 127.0.0.1 port ${running?.port}: Port ${running?.port} is taken by this process itself`,
    );
  });
});
