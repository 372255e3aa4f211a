import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect } from "chai";

const processes = new URL("../../bench/processes.ts", import.meta.url).href;

/** A bench with a process and a folder. Its run fails when the process ends. */
const program = `
  import { spawn } from "node:child_process";
  import { endTogether, temporaryFolder } from ${JSON.stringify(processes)};
  const subject = endTogether(spawn("sleep", ["1000"], { stdio: "ignore" }));
  subject.once("exit", () => { throw new Error("the run fails without its subject"); });
  subject.once("spawn", () => console.log(JSON.stringify({ pid: subject.pid, folder: temporaryFolder("test") })));
`;

describe("a bench that is ended from outside", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    it(`a bench that gets ${signal} ends its processes, removes its folder and exits with ${code}`, async () => {
      const bench = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let errors = "";
      bench.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
      const [line] = (await once(bench.stdout, "data")) as [Buffer];
      const { pid, folder } = JSON.parse(String(line)) as { pid: number; folder: string };
      expect([existsSync(`/proc/${pid}`), existsSync(folder)]).to.deep.equal([true, true]);
      const closed = once(bench, "close");
      bench.kill(signal);
      expect((await closed)[0]).to.equal(code);
      expect([existsSync(`/proc/${pid}`), existsSync(folder)]).to.deep.equal([false, false]);
      expect(errors).to.equal("");
    });
  }
});
