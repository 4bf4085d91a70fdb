import { expect, test } from "vitest";
import { routerOf } from "../../service/http/router.ts";

const routeAt = routerOf(
  ["/keys/:id/", "/keys/:id/rotate/", "/keys/me/", "/keys/me/rotate/", "/keys/"].map((path) => ({ path })),
);

test.each([
  ["/keys", "/keys/", {}],
  ["/keys/", "/keys/", {}],
  ["/keys/me", "/keys/me/", {}],
  ["/keys/x", "/keys/:id/", { id: "x" }],
  ["/keys/:id/", "/keys/:id/", { id: ":id" }],
  ["/keys/me/rotate/", "/keys/me/rotate/", {}],
  ["/keys/rotate/rotate", "/keys/:id/rotate/", { id: "rotate" }],
])("%s is %s", (path, route, params) => {
  expect(routeAt(path)).toEqual({ route: { path: route }, params });
});

test.each(["", "/", "/key", "/keysx", "/keys/x/y", "/keys/x/rotate/y", "/keys//rotate", "//keys", "/KEYS"])(
  "%j has no route",
  (path) => {
    expect(routeAt(path)).toBeUndefined();
  },
);

test("a path with two parameters has no route", () => {
  expect(() => routerOf([{ path: "/a/:b/:c" }])).toThrow("more than one parameter");
});
