"""Make the embedded data set of canteen dishes: `python tools/canteen_dishes.py` writes it anew, byte by byte the same.

Dishes are put together from what such dishes are made of, and get the allergens that these things are known to carry.
src/plurule/datasets/canteen_dishes.md says how, and what was left out.
"""

from __future__ import annotations

import csv
import gzip
import io
import random
from dataclasses import dataclass, field
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "plurule" / "datasets" / "canteen_dishes.csv.gz"
ROWS = 4_000
KITCHENS = ("harbour", "hill", "market", "park", "station", "university")
SEASONS = ("spring", "summer", "autumn", "winter")
# In the order of the columns. The first fourteen are the allergens that must be declared in the European Union.
LABELS = (
    *("gluten", "crustaceans", "egg", "fish", "peanuts", "soya", "milk", "nuts", "celery", "mustard", "sesame"),
    *("sulphites", "lupin", "molluscs", "vegetarian", "vegan", "pork", "alcohol", "spicy"),
)

# What is in what: a share stands where only some recipes or brands have it. `meat` is no label: it rules out vegetarian.
CONTAINS: dict[str, str] = {
    # starch
    "wheat pasta": "gluten egg:0.25",
    "rice": "",
    "potatoes": "",
    "couscous": "gluten",
    "bulgur": "gluten",
    "rice noodles": "",
    "wheat noodles": "gluten egg:0.6",
    "polenta": "milk:0.3",
    "quinoa": "",
    "bread": "gluten sesame:0.15 soya:0.15 milk:0.1 lupin:0.04",
    "wheat tortilla": "gluten",
    "maize tortilla": "",
    "puff pastry": "gluten milk:0.7 egg:0.3",
    "sponge": "gluten egg milk:0.8",
    "crumble": "gluten milk nuts:0.2",
    "biscuit": "gluten milk:0.8 soya:0.3 lupin:0.03",
    # main ingredient
    "chicken": "meat",
    "turkey": "meat",
    "beef": "meat",
    "lamb": "meat",
    "pork": "meat pork",
    "bacon": "meat pork sulphites:0.2",
    "sausages": "meat pork:0.8 mustard:0.4 celery:0.4 sulphites:0.3 gluten:0.3 milk:0.15",
    "white fish": "fish",
    "salmon": "fish",
    "tuna": "fish",
    "prawns": "crustaceans sulphites:0.4",
    "mussels": "molluscs",
    "squid": "molluscs",
    "tofu": "soya",
    "tempeh": "soya",
    "seitan": "gluten soya:0.6",
    "soya mince": "soya gluten:0.3 lupin:0.2",
    "lentils": "",
    "chickpeas": "",
    "beans": "",
    "eggs": "egg",
    "halloumi": "milk",
    "feta": "milk",
    "mushrooms": "",
    "aubergine": "",
    "cauliflower": "",
    "squash": "",
    "spinach": "",
    "mixed vegetables": "celery:0.25",
    "chocolate": "soya:0.8 milk:0.75 nuts:0.2",
    "apples": "",
    "berries": "",
    "lemon": "",
    "quark": "milk",
    # sauce
    "cream": "milk",
    "béchamel": "milk gluten",
    "tomato": "celery:0.15",
    "soy sauce": "soya gluten:0.85",
    "coconut curry": "spicy:0.8 mustard:0.25 celery:0.1 fish:0.1",
    "yoghurt curry": "milk spicy:0.7 mustard:0.3 nuts:0.15",
    "peanut": "peanuts soya:0.7 gluten:0.5 spicy:0.4",
    "tahini": "sesame",
    "pesto": "nuts milk:0.9",
    "vinaigrette": "mustard:0.75 sulphites:0.6",
    "mayonnaise": "egg mustard:0.8 sulphites:0.2",
    "gravy": "celery:0.6 gluten:0.6 meat",
    "red wine": "alcohol sulphites celery:0.5 gluten:0.3 meat:0.5",
    "white wine": "alcohol sulphites milk:0.5",
    "salsa": "spicy:0.7",
    "oyster sauce": "molluscs soya gluten",
    "fish sauce": "fish spicy:0.6",
    "barbecue": "mustard:0.6 sulphites:0.3 celery:0.25 fish:0.2 spicy:0.4",
    "chilli": "spicy celery:0.2",
    "teriyaki": "soya gluten sesame:0.4 alcohol:0.2",
    "custard": "milk egg",
    "caramel": "milk",
    "rum": "alcohol",
    "fruit": "sulphites:0.1",
    # fat
    "butter": "milk",
    "olive oil": "",
    "rapeseed oil": "",
    "sesame oil": "sesame",
    "lard": "meat pork",
    "ghee": "milk",
    # topping
    "grated cheese": "milk",
    "yoghurt": "milk",
    "walnuts": "nuts",
    "peanuts": "peanuts",
    "sesame seeds": "sesame",
    "breadcrumbs": "gluten",
    "fried egg": "egg",
    "herbs": "",
    "croutons": "gluten",
    "crème fraîche": "milk",
    "none": "",
}


@dataclass(frozen=True)
class Dish:
    """A kind of dish: what it is called, and what can go into it, each thing as often as it is named."""

    name: str
    cuisine: str
    course: str
    cooking: str
    main: str
    starch: str = "none"
    sauce: str = "none"
    fat: str = "none"
    topping: str = "none"
    hidden: str = ""  # what is in it whatever goes into it
    minutes: tuple[int, int] = (15, 45)
    often: int = 2


ALL_VEGETABLES = "mushrooms,aubergine,cauliflower,squash,spinach,mixed vegetables"
DISHES = (
    Dish("lasagne", "Italian", "main", "baked", "beef,beef,spinach,soya mince,lentils,squash", "wheat pasta", "béchamel", "olive oil,butter", "grated cheese", "celery:0.4", (60, 100), 3),
    Dish("pasta", "Italian", "main", "boiled", "chicken,bacon,salmon,prawns,mushrooms,aubergine,spinach,beef", "wheat pasta", "tomato,tomato,pesto,cream,white wine", "olive oil,olive oil,butter", "grated cheese,herbs,none", "", (20, 40), 6),
    Dish("risotto", "Italian", "main", "boiled", "mushrooms,prawns,squash,spinach,chicken", "rice", "white wine", "butter,olive oil", "grated cheese,herbs", "celery:0.5", (35, 55), 3),
    Dish("polenta", "Italian", "main", "baked", "mushrooms,beef,aubergine", "polenta", "tomato,red wine", "butter,olive oil", "grated cheese,herbs", "", (40, 70), 1),
    Dish("minestrone", "Italian", "soup", "boiled", "beans,mixed vegetables,bacon", "wheat pasta", "tomato", "olive oil", "grated cheese,herbs,none", "celery:0.9", (40, 70), 2),
    Dish("schnitzel", "German", "main", "fried", "pork,turkey,pork,seitan", "potatoes", "gravy,none,none", "lard,rapeseed oil,rapeseed oil", "breadcrumbs", "gluten egg:0.9", (25, 40), 4),
    Dish("roast", "German", "main", "baked", "pork,beef,turkey,chicken", "potatoes", "gravy,red wine,gravy", "lard,rapeseed oil,butter", "none,herbs", "mustard:0.3 celery:0.5", (90, 180), 3),
    Dish("goulash", "Hungarian", "main", "stewed", "beef,pork,mushrooms,beans", "potatoes,bread", "red wine,gravy,chilli", "lard,rapeseed oil", "crème fraîche,none", "celery:0.3", (90, 150), 3),
    Dish("sausages with mash", "German", "main", "grilled", "sausages", "potatoes", "gravy,none", "butter,rapeseed oil", "none", "mustard:0.5 milk:0.6", (25, 40), 2),
    Dish("lentil stew", "German", "soup", "stewed", "lentils", "potatoes,bread", "vinaigrette,none", "rapeseed oil,lard", "none,herbs", "celery:0.9 mustard:0.3", (45, 80), 2),
    Dish("potato soup", "German", "soup", "boiled", "mixed vegetables,sausages,bacon", "potatoes", "cream,none", "butter,rapeseed oil", "croutons,herbs,none", "celery:0.8", (35, 60), 2),
    Dish("cheese noodles", "German", "main", "baked", "mixed vegetables,bacon", "wheat noodles", "cream", "butter", "grated cheese", "egg milk", (30, 50), 2),
    Dish("fish and chips", "British", "main", "fried", "white fish", "potatoes", "mayonnaise,none", "rapeseed oil", "none", "gluten mustard:0.1 alcohol:0.2", (25, 40), 2),
    Dish("shepherd's pie", "British", "main", "baked", "lamb,lamb,lentils,soya mince", "potatoes", "gravy,red wine,tomato", "butter,rapeseed oil", "grated cheese,none", "celery:0.7 fish:0.15 milk:0.5", (70, 110), 2),
    Dish("pie", "British", "main", "baked", "chicken,beef,mushrooms,feta", "puff pastry", "gravy,cream", "butter,rapeseed oil", "none,herbs", "celery:0.3", (60, 100), 2),
    Dish("quiche", "French", "main", "baked", "bacon,spinach,feta,salmon,mushrooms", "puff pastry", "cream", "butter", "grated cheese,none", "egg", (50, 75), 3),
    Dish("ragout", "French", "main", "stewed", "beef,lamb,mushrooms,beans", "potatoes,bread,rice", "red wine,white wine", "butter,olive oil", "herbs,none", "celery:0.6 mustard:0.2", (90, 150), 2),
    Dish("moules", "French", "main", "boiled", "mussels", "bread,potatoes", "white wine", "butter,olive oil", "herbs", "celery:0.5", (25, 40), 1),
    Dish("ratatouille", "French", "main", "stewed", "aubergine", "rice,bread,potatoes", "tomato", "olive oil", "herbs,none", "", (40, 70), 2),
    Dish("paella", "Spanish", "main", "boiled", "prawns,mussels,squid,chicken,mixed vegetables", "rice", "white wine,none", "olive oil", "herbs,none", "fish:0.3 molluscs:0.2 crustaceans:0.2", (45, 70), 2),
    Dish("tortilla de patatas", "Spanish", "main", "fried", "eggs", "potatoes", "mayonnaise,none,salsa", "olive oil", "herbs,none", "", (30, 50), 1),
    Dish("fried squid", "Spanish", "starter", "fried", "squid", "bread,none", "mayonnaise,salsa", "olive oil,rapeseed oil", "none", "gluten", (15, 30), 1),
    Dish("moussaka", "Greek", "main", "baked", "lamb,aubergine,lentils", "potatoes", "béchamel", "olive oil", "grated cheese,breadcrumbs", "egg:0.4 celery:0.2", (80, 120), 2),
    Dish("farmer's salad", "Greek", "starter", "raw", "feta,feta,beans", "bread,none", "vinaigrette,none", "olive oil", "herbs,none", "sulphites:0.4", (10, 20), 2),
    Dish("falafel", "Levantine", "main", "fried", "chickpeas", "bread,bulgur,rice", "tahini,yoghurt curry,salsa", "rapeseed oil", "sesame seeds,herbs", "gluten:0.2 sesame:0.5", (30, 50), 3),
    Dish("hummus plate", "Levantine", "starter", "raw", "chickpeas", "bread", "tahini", "olive oil", "herbs,sesame seeds", "", (10, 20), 2),
    Dish("tabbouleh", "Levantine", "side", "raw", "mixed vegetables,chickpeas", "bulgur,bulgur,quinoa", "none", "olive oil", "herbs,walnuts", "", (20, 35), 1),
    Dish("tagine", "Moroccan", "main", "stewed", "lamb,chicken,chickpeas,squash", "couscous,couscous,bread", "tomato,chilli", "olive oil", "walnuts,herbs,none", "celery:0.2 nuts:0.2", (70, 120), 3),
    Dish("curry", "Indian", "main", "stewed", "chicken,lamb,lentils,chickpeas,cauliflower,spinach,prawns", "rice,rice,bread", "yoghurt curry,yoghurt curry,coconut curry", "ghee,rapeseed oil", "yoghurt,herbs,none", "mustard:0.3", (35, 60), 6),
    Dish("dal", "Indian", "soup", "boiled", "lentils", "rice,bread", "coconut curry,chilli,tomato", "ghee,rapeseed oil,rapeseed oil", "yoghurt,herbs", "mustard:0.4", (30, 50), 3),
    Dish("Thai curry", "Thai", "main", "stewed", "chicken,prawns,tofu,mixed vegetables", "rice,rice noodles", "coconut curry", "rapeseed oil", "herbs,peanuts", "fish:0.6 crustaceans:0.3 spicy:0.9", (25, 45), 4),
    Dish("pad thai", "Thai", "main", "fried", "prawns,chicken,tofu", "rice noodles", "fish sauce,fish sauce,soy sauce", "rapeseed oil", "peanuts,peanuts,herbs", "egg:0.8", (20, 35), 3),
    Dish("satay skewers", "Thai", "starter", "grilled", "chicken,tofu,tempeh", "rice,none", "peanut", "rapeseed oil", "herbs,peanuts", "", (25, 40), 2),
    Dish("stir-fry", "Chinese", "main", "fried", "chicken,beef,pork,tofu,mixed vegetables,prawns", "rice,wheat noodles,rice noodles", "soy sauce,oyster sauce,soy sauce", "sesame oil,rapeseed oil", "sesame seeds,none,peanuts", "celery:0.1", (15, 30), 6),
    Dish("egg-fried rice", "Chinese", "side", "fried", "eggs,prawns,mixed vegetables", "rice", "soy sauce", "sesame oil,rapeseed oil", "none,sesame seeds", "egg:0.9", (15, 25), 2),
    Dish("ramen", "Japanese", "soup", "boiled", "pork,chicken,tofu", "wheat noodles", "soy sauce", "sesame oil,rapeseed oil", "fried egg,sesame seeds,none", "fish:0.4", (30, 60), 3),
    Dish("teriyaki bowl", "Japanese", "main", "grilled", "salmon,chicken,tofu", "rice", "teriyaki", "sesame oil,rapeseed oil", "sesame seeds,none", "", (20, 35), 3),
    Dish("burrito", "Mexican", "main", "grilled", "beef,chicken,beans,soya mince", "wheat tortilla", "salsa,chilli", "rapeseed oil", "grated cheese,crème fraîche,herbs", "", (20, 35), 3),
    Dish("tacos", "Mexican", "main", "grilled", "white fish,chicken,beans,pork", "maize tortilla", "salsa,salsa,mayonnaise", "rapeseed oil", "crème fraîche,herbs", "", (20, 35), 2),
    Dish("chilli", "Mexican", "main", "stewed", "beef,beans,soya mince", "rice,bread", "chilli", "rapeseed oil", "crème fraîche,grated cheese,none", "celery:0.2", (40, 70), 3),
    Dish("burger", "American", "main", "grilled", "beef,beef,chicken,halloumi,soya mince,chickpeas", "bread", "barbecue,mayonnaise,salsa", "rapeseed oil", "grated cheese,fried egg,none", "sesame:0.6 mustard:0.4 sulphites:0.2", (20, 35), 4),
    Dish("ribs", "American", "main", "grilled", "pork", "potatoes", "barbecue", "rapeseed oil", "none", "", (90, 150), 1),
    Dish("Caesar salad", "American", "starter", "raw", "chicken,chicken,bacon,prawns", "none", "mayonnaise", "olive oil", "croutons,grated cheese", "fish:0.7 egg:0.6 milk:0.6 mustard:0.4", (15, 25), 2),
    Dish("salad", "International", "side", "raw", "mixed vegetables,beans,tuna,lentils", "none,none,quinoa", "vinaigrette", "olive oil,rapeseed oil", "croutons,walnuts,none,herbs", "", (10, 20), 5),
    Dish("oven vegetables", "International", "side", "baked", ALL_VEGETABLES, "none,potatoes", "none,tahini,pesto", "olive oil", "herbs,sesame seeds,none", "", (30, 50), 4),
    Dish("vegetable soup", "International", "soup", "boiled", "squash,cauliflower,mixed vegetables,mushrooms", "none,bread", "cream,none,coconut curry", "butter,rapeseed oil,olive oil", "croutons,herbs,none", "celery:0.7", (30, 50), 5),
    Dish("fish fillet", "International", "main", "baked", "white fish,salmon,salmon", "potatoes,rice", "white wine,cream,none", "butter,olive oil", "herbs,breadcrumbs,none", "mustard:0.15", (25, 45), 4),
    Dish("sandwich", "International", "starter", "raw", "tuna,chicken,halloumi,eggs,salmon", "bread", "mayonnaise,pesto,none", "butter,none", "herbs,none", "", (5, 15), 3),
    Dish("crumble", "British", "dessert", "baked", "apples,berries", "crumble", "custard,none,cream", "butter,butter,rapeseed oil", "walnuts,none", "", (40, 60), 2),
    Dish("apple strudel", "German", "dessert", "baked", "apples", "puff pastry", "custard,cream,none", "butter,rapeseed oil", "walnuts,none", "sulphites:0.5 alcohol:0.2", (50, 80), 2),
    Dish("chocolate cake", "International", "dessert", "baked", "chocolate", "sponge", "none,cream,caramel", "butter,rapeseed oil", "walnuts,none,none", "", (45, 70), 3),
    Dish("mousse", "French", "dessert", "raw", "chocolate,lemon,berries", "none,biscuit", "cream", "none", "none,walnuts", "egg:0.7", (20, 40), 2),
    Dish("cheesecake", "American", "dessert", "baked", "quark", "biscuit", "fruit,none,caramel", "butter", "none,walnuts", "egg milk", (60, 90), 2),
    Dish("fruit salad", "International", "dessert", "raw", "berries,apples", "none", "fruit,none,rum", "none", "none,yoghurt,walnuts", "", (10, 20), 3),
    Dish("lemon tart", "French", "dessert", "baked", "lemon", "puff pastry,biscuit", "none,cream", "butter", "none", "egg milk:0.8", (50, 80), 1),
)  # fmt: skip

COST = {
    "beef": 2.6,
    "lamb": 3.4,
    "salmon": 3.2,
    "prawns": 3.6,
    "white fish": 2.8,
    "squid": 2.7,
    "mussels": 2.4,
    "tuna": 2.1,
}
COST |= {"pork": 1.6, "chicken": 1.7, "turkey": 1.8, "bacon": 1.4, "sausages": 1.5, "halloumi": 1.9, "feta": 1.5}
ENERGY = {"cream": 160, "béchamel": 140, "peanut": 190, "pesto": 150, "mayonnaise": 180, "coconut curry": 150}
ENERGY |= {
    "grated cheese": 100,
    "walnuts": 110,
    "peanuts": 100,
    "butter": 110,
    "lard": 130,
    "ghee": 120,
    "chocolate": 180,
}
UNNAMED = {"none", "béchamel", "gravy", "breadcrumbs", "biscuit", "sponge", "crumble", "wheat pasta", "puff pastry"}
# Habits of single kitchens: a stock with celery, soy sauce without wheat, rolls with sesame.
CELERY_STOCK, WHEAT_FREE, SESAME_ROLLS = ("hill", "station"), ("university",), ("market",)


@dataclass
class Served:
    """A dish as one kitchen makes it."""

    kitchen: str
    dish: Dish
    parts: dict[str, str]
    contents: set[str] = field(default_factory=set)


def pick(chance: random.Random, options: str) -> str:
    """One of the options, each as often as it is named."""
    choices = options.split(",")
    return choices[int(chance.random() * len(choices))]


def happens(chance: random.Random, contents: str) -> set[str]:
    """What of the contents is there this time."""
    there = set()
    for entry in contents.split():
        name, _, share = entry.partition(":")
        if not share or chance.random() < float(share):
            there.add(name)
    return there


def cook(chance: random.Random) -> Served:
    """One dish of one kitchen, with everything that is in it."""
    dish = DISHES[pick_index(chance, [dish.often for dish in DISHES])]
    kitchen = pick(chance, ",".join(KITCHENS))
    parts = {slot: pick(chance, getattr(dish, slot)) for slot in ("main", "starch", "sauce", "fat", "topping")}
    served = Served(kitchen, dish, parts, happens(chance, dish.hidden))
    for part in parts.values():
        served.contents |= happens(chance, CONTAINS[part])
    if (
        dish.course in ("soup", "main")
        and kitchen in CELERY_STOCK
        and dish.cooking in ("boiled", "stewed")
        and chance.random() < 0.8
    ):
        served.contents.add("celery")
    if parts["sauce"] == "soy sauce" and kitchen in WHEAT_FREE and parts["starch"] != "wheat noodles":
        served.contents.discard("gluten")
    if parts["starch"] == "bread" and kitchen in SESAME_ROLLS and chance.random() < 0.7:
        served.contents.add("sesame")
    return served


def pick_index(chance: random.Random, weights: list[int]) -> int:
    """A place in the list, as likely as its weight."""
    left = chance.random() * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return len(weights) - 1


def labels_of(contents: set[str]) -> set[str]:
    """The labels that a dish should carry."""
    labels = contents & set(LABELS)
    if not contents & {"meat", "fish", "crustaceans", "molluscs"}:
        labels.add("vegetarian")
        if not contents & {"milk", "egg"}:
            labels.add("vegan")
    return labels


def menu_line(served: Served) -> str:
    """The dish as it stands on the menu, where not everything is named."""
    dish, parts = served.dish.name, served.parts
    words = dish if parts["main"][:4] in dish.lower() else f"{parts['main']} {dish}"
    sauce = (
        parts["sauce"] + " sauce"
        if parts["sauce"] in ("peanut", "tomato", "cream", "red wine", "white wine")
        else parts["sauce"]
    )
    named = [
        each
        for each in (sauce, parts["starch"], parts["topping"])
        if each not in UNNAMED and each[:4] not in words.lower()
    ]
    return words[0].upper() + words[1:] + (f" with {' and '.join(named[:2])}" if named else "")


def record(served: Served, chance: random.Random) -> dict[str, object]:
    """What the kitchen wrote down: some things not at all, some labels wrongly."""
    dish, parts = served.dish, served.parts
    minutes = dish.minutes[0] + int(chance.random() * (dish.minutes[1] - dish.minutes[0]) / 5) * 5
    price = (
        1.4 + COST.get(parts["main"], 0.7) + 0.01 * minutes * chance.random() + (1.2 if dish.course == "main" else 0)
    )
    base = {"main": 420, "soup": 190, "starter": 210, "side": 170, "dessert": 260}[dish.course]
    energy = base + sum(ENERGY.get(part, 20) for part in parts.values()) * 0.7 + (90 if dish.cooking == "fried" else 0)
    right = labels_of(served.contents)
    written = {name for name in LABELS if chance.random() < (0.98 if name in right else 0.002)}
    return {
        "menu_line": menu_line(served),
        "kitchen": served.kitchen,
        "season": pick(chance, ",".join(SEASONS)),
        "cuisine": dish.cuisine,
        "course": dish.course,
        "cooking": dish.cooking,
        "main_ingredient": parts["main"],
        "starch": parts["starch"],
        "sauce": parts["sauce"],
        "fat": "" if chance.random() < 0.08 else parts["fat"],
        "topping": parts["topping"],
        "minutes": "" if chance.random() < 0.05 else minutes,
        "price": f"{round(price * 4) / 4:.2f}",
        "energy": round(energy * (0.85 + 0.3 * chance.random()) / 10) * 10,
        "labels": " ".join(name for name in LABELS if name in written),
    }


def make() -> bytes:
    """The file, packed; the same every time."""
    chance = random.Random(2025)
    rows = [record(cook(chance), chance) for _ in range(ROWS)]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0, filename="") as file:
        file.write(text.getvalue().encode())
    return packed.getvalue()


if __name__ == "__main__":
    TARGET.write_bytes(make())
    print(f"{TARGET.name}: {ROWS} dishes, {TARGET.stat().st_size} bytes")
