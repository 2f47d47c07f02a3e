"""The embedded flags: consistent in themselves, true to flags everybody knows, handed out in the right types."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.datasets import load_world_flags

LABELS = ["red", "green", "blue", "yellow", "white", "black", "orange"]
YES_NO = {"yes", "no"}
NOMINAL = {
    "continent": {"Africa", "Asia", "Europe", "North America", "Oceania", "South America"},
    "hemisphere": {"northern", "southern"},
    "coast": {"landlocked", "coastal", "island"},
    "commonwealth": YES_NO,
    "arab_league": YES_NO,
    "diagonal": YES_NO,
    "hoist_triangle": YES_NO,
    "canton": YES_NO,
    "union_jack": YES_NO,
    "cross": YES_NO,
    "saltire": YES_NO,
    "sun": YES_NO,
    "crescent": YES_NO,
    "circle": YES_NO,
    "emblem": {"none", "figure", "arms"},
    "animal": YES_NO,
    "plant": YES_NO,
    "writing": YES_NO,
}
NUMERIC = ["un_since", "horizontal_stripes", "vertical_bars", "stars"]


def read_flags() -> dict[str, dict[str, str]]:
    text = resources.files("plurule.datasets").joinpath("world_flags.csv").read_text(encoding="utf-8")
    return {row["country"]: row for row in csv.DictReader(text.splitlines())}


FLAGS = read_flags()


def countries_where(column: str, value: str = "yes") -> set[str]:
    return {country for country, row in FLAGS.items() if row[column] == value}


def colours(country: str) -> set[str]:
    return {label for label in LABELS if FLAGS[country][label] == "1"}


class TestTheFile:
    def test_it_has_one_row_for_each_of_the_193_states_in_alphabetical_order(self) -> None:
        text = resources.files("plurule.datasets").joinpath("world_flags.csv").read_text(encoding="utf-8")
        assert len(text.splitlines()) == 1 + 193
        assert len(FLAGS) == 193
        plain = [name.translate(str.maketrans("ãéíôü", "aeiou")).lower() for name in FLAGS]
        assert plain == sorted(plain)

    def test_every_value_is_one_of_those_the_column_allows(self) -> None:
        for country, row in FLAGS.items():
            assert set(row) == {"country", *NOMINAL, *NUMERIC, *LABELS}
            for column, allowed in NOMINAL.items():
                assert row[column] in allowed, (country, column)
            for column in NUMERIC:
                assert row[column].isdecimal(), (country, column)
            for label in LABELS:
                assert row[label] in {"0", "1"}, (country, label)

    def test_every_allowed_value_occurs(self) -> None:
        for column, allowed in NOMINAL.items():
            assert {row[column] for row in FLAGS.values()} == allowed
        for label in LABELS:
            assert {row[label] for row in FLAGS.values()} == {"0", "1"}

    def test_every_column_is_explained_in_the_readme(self) -> None:
        description = load_world_flags().description
        for column in [*NOMINAL, *NUMERIC, *LABELS]:
            assert f"`{column}`" in description


class TestTheStates:
    def test_the_continents_have_the_numbers_of_states_the_un_counts(self) -> None:
        assert Counter(row["continent"] for row in FLAGS.values()) == {
            "Africa": 54,
            "Asia": 47,
            "Europe": 43,
            "North America": 23,
            "Oceania": 14,
            "South America": 12,
        }

    def test_the_un_had_the_numbers_of_members_it_is_known_to_have_had(self) -> None:
        years = [int(row["un_since"]) for row in FLAGS.values()]
        # 51 founders less Czechoslovakia and Yugoslavia, which are no more.
        assert years.count(1945) == 49
        assert years.count(1955) == 16
        assert years.count(1960) == 17
        assert sum(year >= 1990 for year in years) == 38
        assert (min(years), max(years)) == (1945, 2011)

    def test_the_leagues_have_their_numbers_of_members(self) -> None:
        assert len(countries_where("commonwealth")) == 56
        # The League has 22 members; Palestine is not a member of the UN.
        assert len(countries_where("arab_league")) == 21
        assert not countries_where("commonwealth") & countries_where("arab_league")

    def test_landlocked_and_island_states_are_where_they_can_be(self) -> None:
        landlocked = countries_where("coast", "landlocked")
        assert len(landlocked) == 43
        assert Counter(FLAGS[country]["continent"] for country in landlocked) == {
            "Africa": 16,
            "Asia": 12,
            "Europe": 13,
            "South America": 2,
        }
        assert countries_where("continent", "Oceania") - {"Australia"} < countries_where("coast", "island")

    def test_europe_is_north_of_the_equator(self) -> None:
        assert countries_where("continent", "Europe") < countries_where("hemisphere", "northern")
        assert countries_where("continent", "North America") < countries_where("hemisphere", "northern")
        assert {"Ecuador", "Kenya", "Indonesia", "Brazil"} < countries_where("hemisphere", "southern")
        assert {"Colombia", "Uganda", "Singapore", "Kiribati"} < countries_where("hemisphere", "northern")


class TestTheDrawing:
    def test_a_flag_has_at_least_two_and_at_most_six_colours(self) -> None:
        counts = {country: len(colours(country)) for country in FLAGS}
        assert set(counts.values()) == {2, 3, 4, 5, 6}
        assert {country for country, count in counts.items() if count == 6} == {"South Africa", "South Sudan"}

    def test_stripes_and_bars_come_in_possible_numbers(self) -> None:
        for country, row in FLAGS.items():
            stripes, bars = int(row["horizontal_stripes"]), int(row["vertical_bars"])
            assert stripes in range(15), country
            assert stripes != 1, country
            assert bars <= 3, country
            assert not (stripes and bars > 1), country
            # A bar alone, with no stripes beside it, is an ornament on a plain field.
            if bars == 1 and not stripes:
                assert country in {"Kazakhstan", "Turkmenistan"}

    def test_a_union_jack_is_a_red_white_and_blue_cross_and_saltire(self) -> None:
        union_jacks = countries_where("union_jack")
        assert union_jacks == {"United Kingdom", "Australia", "New Zealand", "Fiji", "Tuvalu"}
        assert union_jacks < countries_where("cross")
        assert union_jacks - {"United Kingdom"} < countries_where("canton")
        assert countries_where("saltire") == union_jacks | {"Jamaica", "Burundi"}
        assert all({"red", "white", "blue"} <= colours(country) for country in union_jacks)

    def test_the_nordic_states_have_crosses(self) -> None:
        nordic = {"Denmark", "Norway", "Sweden", "Finland", "Iceland"}
        assert nordic <= countries_where("cross")
        assert colours("Denmark") == {"red", "white"}
        assert colours("Norway") == colours("Iceland") == {"red", "white", "blue"}
        assert colours("Sweden") == {"blue", "yellow"}
        assert colours("Finland") == {"blue", "white"}

    def test_the_crescents_are_those_of_sixteen_flags(self) -> None:
        assert countries_where("crescent") == {
            "Algeria",
            "Azerbaijan",
            "Brunei",
            "Comoros",
            "Libya",
            "Malaysia",
            "Maldives",
            "Mauritania",
            "Mongolia",
            "Nepal",
            "Pakistan",
            "Singapore",
            "Tunisia",
            "Turkmenistan",
            "Türkiye",
            "Uzbekistan",
        }

    def test_star_counts_match_flags_known_for_them(self) -> None:
        known = {"United States": 50, "Brazil": 27, "Uzbekistan": 12, "Cabo Verde": 10, "Tuvalu": 9}
        known |= {"Venezuela": 8, "Grenada": 7, "Australia": 6, "China": 5, "New Zealand": 4, "Syria": 3}
        known |= {"Panama": 2, "Somalia": 1, "Iraq": 0, "Argentina": 0}
        assert {country: int(FLAGS[country]["stars"]) for country in known} == known

    def test_stripe_counts_match_flags_known_for_them(self) -> None:
        known = {"Malaysia": 14, "United States": 13, "Liberia": 11, "Greece": 9, "Uruguay": 9, "Zimbabwe": 7}
        known |= {"Uganda": 6, "Cuba": 5, "Thailand": 5, "Mauritius": 4, "Germany": 3, "Poland": 2, "France": 0}
        assert {country: int(FLAGS[country]["horizontal_stripes"]) for country in known} == known

    def test_an_animal_a_plant_or_writing_is_on_an_emblem(self) -> None:
        shown = countries_where("animal") | countries_where("plant") | countries_where("writing")
        assert shown & countries_where("emblem", "none") == {"Malta"}

    def test_a_canton_leaves_no_room_for_a_triangle_at_the_hoist(self) -> None:
        assert not countries_where("canton") & countries_where("hoist_triangle")
        assert not countries_where("diagonal") & countries_where("saltire")


class TestTheColours:
    @pytest.mark.parametrize(
        ("expected", "countries"),
        [
            ("black red yellow", "Germany, Belgium, Angola"),
            ("red white", "Austria, Poland, Monaco, Indonesia, Japan, Canada, Peru, Switzerland, Qatar, Tonga"),
            ("red white blue", "France, Netherlands, Russia, Czechia, Serbia, Chile, Cuba, Thailand, Panama"),
            ("red white green", "Italy, Hungary, Bulgaria, Mexico, Iran, Madagascar, Lebanon, Oman"),
            ("blue white", "Greece, Israel, Finland, Somalia, Micronesia, Honduras, Guatemala"),
            ("blue yellow", "Ukraine, Sweden, Kazakhstan, Palau"),
            ("red yellow", "China, Vietnam, Spain, Kyrgyzstan, North Macedonia, Montenegro"),
            ("red yellow blue", "Romania, Chad, Moldova, Andorra, Colombia, Ecuador, Mongolia"),
            ("red yellow green", "Mali, Guinea, Senegal, Cameroon, Benin, Congo, Bolivia, Lithuania, Burkina Faso"),
            ("red yellow green black", "Ghana, Guinea-Bissau, São Tomé and Príncipe, Vanuatu"),
            (
                "red white green black",
                "Jordan, Kuwait, United Arab Emirates, Iraq, Syria, Sudan, Libya, Kenya, Afghanistan",
            ),
            ("red white black", "Yemen, Trinidad and Tobago"),
            ("orange white green", "Ireland, Côte d'Ivoire, Niger, Cyprus"),
            ("green yellow black", "Jamaica"),
            ("blue black white", "Estonia, Botswana"),
        ],
    )
    def test_families_of_flags_have_their_colours(self, expected: str, countries: str) -> None:
        for country in countries.split(", "):
            assert colours(country) == set(expected.split()), country

    def test_orange_is_the_colour_of_ten_flags(self) -> None:
        assert countries_where("orange", "1") == {
            "Armenia",
            "Bhutan",
            "Cyprus",
            "Côte d'Ivoire",
            "India",
            "Ireland",
            "Marshall Islands",
            "Niger",
            "Sri Lanka",
            "Zambia",
        }

    def test_only_jamaica_is_without_red_white_and_blue(self) -> None:
        without = {country for country in FLAGS if not colours(country) & {"red", "white", "blue"}}
        assert without == {"Jamaica"}


class TestLoading:
    def test_it_is_a_data_set_that_needs_no_pandas(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        flags = load_world_flags()
        assert flags.X.shape == (193, 22)
        assert flags.Y.dtype == np.int8
        assert flags.Y.shape == (193, 7)
        assert flags.label_names == tuple(LABELS)
        assert flags.row_names == tuple(FLAGS)
        assert flags.description.startswith("# World flags")

    def test_the_table_says_what_the_file_says(self) -> None:
        flags = load_world_flags()
        for position, attribute in enumerate(flags.attributes):
            written = [row[attribute.name] for row in FLAGS.values()]
            column = flags.X.column(position)
            if attribute.categories is None:
                assert column.tolist() == [float(value) for value in written]
            else:
                assert [attribute.categories[code] for code in column] == written
        assert flags.Y.tolist() == [[int(row[label]) for label in LABELS] for row in FLAGS.values()]

    def test_as_frame_gives_frames_with_categories_and_countries(self) -> None:
        X, Y = load_world_flags(as_frame=True)
        assert list(X.columns) == list(load_world_flags().attribute_names)
        assert list(Y.columns) == LABELS
        assert X.index.tolist() == Y.index.tolist() == list(FLAGS)
        assert {name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)} == set(NOMINAL)
        assert X.loc["Nepal", "sun"] == "yes"
        assert Y.loc["Nepal"].tolist() == [1, 0, 1, 0, 1, 0, 0]

    def test_a_frame_encodes_to_the_same_table(self) -> None:
        table = load_world_flags().X
        encoded = encode(load_world_flags(as_frame=True)[0])
        assert encoded.attributes == table.attributes
        for position in range(table.shape[1]):
            np.testing.assert_array_equal(encoded.column(position), table.column(position))

    def test_return_X_y_gives_attributes_and_labels(self) -> None:
        X, Y = load_world_flags(return_X_y=True)
        assert isinstance(X, Table)
        np.testing.assert_array_equal(Y, load_world_flags().Y)
        frames = load_world_flags(return_X_y=True, as_frame=True)
        assert isinstance(frames[0], pd.DataFrame)
        np.testing.assert_array_equal(frames[1].to_numpy(), Y)

    def test_as_frame_without_pandas_says_how_to_get_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r"pip install 'plurule\[pandas\]'"):
            load_world_flags(as_frame=True)

    def test_changing_what_was_loaded_does_not_change_the_next_load(self) -> None:
        load_world_flags().Y[:] = 0
        assert load_world_flags().Y.any()
