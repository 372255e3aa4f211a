/** Root hooks of every test file: logs of failed tests, and an end without open connections. */
import type { RootHookObject } from "mocha";
import { closeApi } from "./api.ts";
import { collectLogs } from "./logs.ts";

/** @public mocha looks for this name. */
export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    const { currentTest } = this;
    if (currentTest?.state !== "failed") return;
    this.timeout(120_000);
    process.stdout.write(`      logs: ${await collectLogs(currentTest.fullTitle())}\n`);
  },
  async afterAll() {
    await closeApi();
  },
};
