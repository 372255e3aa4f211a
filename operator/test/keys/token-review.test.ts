import { expect } from "chai";
import { createTokenReview } from "../../src/keys/token-review.ts";
import { createFakeClient } from "../support/fake-client.ts";

const signal = new AbortController().signal;

const review = (answer: object | number) =>
  createTokenReview(createFakeClient(() => answer))("token", "svc-discovery", signal);

const valid = {
  authenticated: true,
  audiences: ["svc-discovery"],
  user: {
    username: "system:serviceaccount:svc-system:svc-shared-proxy",
    extra: {
      "authentication.kubernetes.io/pod-name": ["proxy-0"],
      "authentication.kubernetes.io/pod-uid": ["uid-1"],
    },
  },
};

describe("createTokenReview", () => {
  it("the token is reviewed for its audience", async () => {
    const client = createFakeClient(() => ({ status: valid }));
    const reviewed = await createTokenReview(client)("token", "svc-discovery", signal);
    expect(reviewed).to.deep.equal({
      ok: true,
      value: {
        namespace: "svc-system",
        serviceAccount: "svc-shared-proxy",
        pod: { name: "proxy-0", uid: "uid-1" },
      },
    });
    const [call] = client.calls;
    expect(call).to.include({ method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", signal });
    expect(call?.body).to.deep.include({ spec: { token: "token", audiences: ["svc-discovery"] } });
  });

  it("a token that is not bound to a pod is valid for its service account", async () => {
    const { extra: _extra, ...user } = valid.user;
    expect(await review({ status: { ...valid, user } })).to.deep.equal({
      ok: true,
      value: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
    });
  });

  const rejections: readonly (readonly [string, object | number, string])[] = [
    ["an API server that fails", 500, "token_review_error"],
    ["an empty answer", {}, "sa_token"],
    ["a token that is not valid", { status: { authenticated: false, error: "expired" } }, "sa_token"],
    [
      "an API server that does not check audiences",
      { status: { ...valid, audiences: undefined } },
      "sa_token",
    ],
    ["another audience", { status: { ...valid, audiences: ["other"] } }, "sa_token"],
    ["a human", { status: { ...valid, user: { username: "alice" } } }, "invalid_principal"],
    ["no user", { status: { ...valid, user: undefined } }, "invalid_principal"],
  ];
  for (const [what, answer, reason] of rejections) {
    it(`a token review with ${what} is rejected as ${reason}`, async () => {
      const reviewed = await review(answer);
      expect(reviewed.ok ? "accepted" : reviewed.error.reason).to.equal(reason);
    });
  }
});
