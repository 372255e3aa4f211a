import { expect } from "chai";
import type { UserList, UserVerdict } from "../../src/auth/user-list.ts";
import { authBasicSecretFilter } from "../../src/filters/auth-basic-secret.ts";
import { exchange } from "./support.ts";

const alice = ["Authorization", `Basic ${Buffer.from("alice:a").toString("base64")}`];

/** The filter's reply when the list has this verdict; undefined when the request passes. */
async function answer(
  headers: string[],
  verdict: UserVerdict | Promise<UserVerdict> | undefined,
  name?: string,
) {
  const list: UserList | undefined = verdict && { check: () => verdict, forget() {} };
  const filter = authBasicSecretFilter([{ htpasswd: name }], { users: () => list });
  return filter.onRequest?.(exchange({ headers }));
}

const challenge = ["WWW-Authenticate", 'Basic realm="Authentication required"'];

describe("the auth-basic-secret filter", () => {
  it("auth-basic-secret: accepted credentials pass, at once or later", async () => {
    expect(await answer(alice, "accepted", "ns/users")).to.equal(undefined);
    expect(await answer(alice, Promise.resolve("accepted"), "ns/users")).to.equal(undefined);
  });

  it("auth-basic-secret: missing or refused credentials get 401 with a fixed realm", async () => {
    for (const [headers, verdict, reason] of [
      [[], "accepted", "credentials-missing"],
      [["Authorization", "Bearer x"], "accepted", "credentials-missing"],
      [[...alice, ...alice], "accepted", "credentials-missing"],
      [alice, "wrong-password", "password-wrong"],
      [alice, Promise.resolve("wrong-password" as const), "password-wrong"],
      [alice, "unknown-user", "user-unknown"],
      [alice, Promise.resolve("unknown-user" as const), "user-unknown"],
    ] as const) {
      const reply = await answer([...headers], verdict, "ns/users");
      expect(reply).to.deep.equal({
        status: 401,
        headers: challenge,
        error: "no valid basic credentials",
        reason,
      });
    }
  });

  it("auth-basic-secret: requests with any credentials get 503 when there is no user list", async () => {
    for (const headers of [[], alice]) {
      expect((await answer(headers, undefined, "ns/users"))?.status).to.equal(503);
      expect((await answer(headers, "accepted", undefined))?.status).to.equal(503);
    }
  });

  it("auth-basic-secret: requests get 503 when the check cannot be made", async () => {
    expect((await answer(alice, "busy", "ns/users"))?.status).to.equal(503);
  });
});
