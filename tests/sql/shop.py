"""A small shop: users, their orders, and public stores. All values follow from their numbers."""

from __future__ import annotations

from datetime import datetime, timedelta

import pandas as pd

import sfumato as sf

USERS, ORDERS = 120, 900
PRODUCTS = ("phone", "toys", "sofa", "book")


def shop() -> sf.session.Database:
    """Protect the tables of the shop, with a budget for any number of questions."""
    first = datetime(2023, 1, 1)
    users = pd.DataFrame(
        {
            "user_id": range(USERS),
            "country": [("de", "fr", "it")[i % 3] for i in range(USERS)],
            "age": [18 + i * 7 % 60 for i in range(USERS)],
            "signup": [first - timedelta(days=i) for i in range(USERS)],
        }
    )
    orders = pd.DataFrame(
        {
            "order_id": range(ORDERS),
            "user_id": [i * 31 % USERS for i in range(ORDERS)],
            "product": [PRODUCTS[i * 7 % 4] for i in range(ORDERS)],
            "store_id": [1 + i % 5 for i in range(ORDERS)],
            "amount": [(i * 37 % 2000) / 10 for i in range(ORDERS)],
            "rating": [1 + i * 3 % 5 for i in range(ORDERS)],
            "returned": [i % 13 == 0 for i in range(ORDERS)],
            "email": [f"{'abc'[i % 3]}{i}@shop.de" for i in range(ORDERS)],
            "ordered_at": [first + timedelta(hours=19 * i) for i in range(ORDERS)],
        }
    )
    stores = pd.DataFrame(
        {"store_id": range(1, 6), "city": ["Bari", "Roma", "Pisa", "Como", "Pavia"]}
    )
    return sf.protect(
        {"users": users, "orders": orders},
        public={"stores": stores},
        unit="users.user_id",
        links={"orders.user_id": "users.user_id"},
        budget=sf.Approx(10**6, "1/2"),
        max_rows={"orders": 20, "users": 1},
        bounds={"orders.amount": (0, 200), "orders.rating": (1, 5), "users.age": (18, 100)},
        keys={"orders.product": PRODUCTS},
    )
